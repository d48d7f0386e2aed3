# openmpi.sh: a ring of two ranks with collectives, started by mpirun; every rank is in the one run folder.
. "$(dirname "$0")/same.sh"
need mpirun mpicc
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_plm_rsh_agent=false

cat >ring.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, size;
	double sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	size_t bytes = 1234567 * sizeof(double);
	double *block = malloc(bytes), *got = malloc(bytes);
	for (size_t i = 0; i < 1234567; i++)
		block[i] = rank + (double)i;
	MPI_Sendrecv(block, 1234567, MPI_DOUBLE, (rank + 1) % size, 0, got, 1234567, MPI_DOUBLE,
		     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(&got[1000], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("size %d sum %.1f held_bytes=%zu\n", size, sum, bytes);
	free(block);
	free(got);
	MPI_Finalize();
	return rank ? 0 : 9;
}
END
mpicc -O1 -o ring ring.c >mpicc.log 2>&1 || fail "mpicc: $(tail -n 3 mpicc.log)"
same ring mpirun --allow-run-as-root --oversubscribe -q -np 2 ./ring
recorded ring.full "$(said ring.out held_bytes)" 4
holds ring.full '.run.processes >= 3'
