/* SPDX-License-Identifier: MIT */
/* nvtx_real.c: the same as nvtx_client.c, by NVIDIA's own headers where they are installed. */
#include <nvtx3/nvToolsExt.h>

#include <stdio.h>

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("my.domain");
	nvtxEventAttributes_t event = {0};

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.category = 5;
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = nvtxDomainRegisterStringA(domain, "a registered name");
	nvtxDomainNameCategoryA(domain, 5, "attention");
	printf("%d", nvtxRangePushA("plain"));
	printf(" %d", nvtxRangePushW(L"w\u00efde \U0001f600"));
	printf(" %d", nvtxDomainRangePushEx(domain, &event));
	printf(" %d", nvtxDomainRangePop(domain));
	printf(" %d", nvtxRangePop());
	printf(" %d\n", nvtxRangePop());
	event.size = 16;
	printf("%d", nvtxDomainRangePushEx(domain, &event));
	printf(" %d\n", nvtxDomainRangePop(domain));
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	nvtxRangeId_t first = nvtxRangeStartA("first"), second = nvtxDomainRangeStartEx(domain, &event);
	nvtxRangeEnd(first);
	nvtxDomainRangeEnd(domain, second);
	nvtxMarkA("a mark");
	return 0;
}
