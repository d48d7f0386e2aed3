/* SPDX-License-Identifier: MIT */
/* Two libraries from one source that differ in their frames alone: ROOM_BYTES tells them apart. */
int fixture_call(void (*back)(void));
int fixture_room_bytes(void);

__attribute__((noinline)) int fixture_call(void (*back)(void))
{
	volatile char room[ROOM_BYTES];

	room[ROOM_BYTES - 1] = 3;
	back();
	return room[ROOM_BYTES - 1];
}

int fixture_room_bytes(void)
{
	return ROOM_BYTES;
}
