/* Some ranks load a library before MPI_Init, where every other library may find its symbols. Then 10
 * requests.
 * usage: loads_a_library DIRECTORY LIBRARY all|0 */
#define _GNU_SOURCE
#include "write_some.h"
#include <dlfcn.h>

int main(int argc, char **argv) {
    const char *rank = getenv("PMIX_RANK") ? getenv("PMIX_RANK") : getenv("PMI_RANK");
    if (argc != 4)
        return 2;
    if (!strcmp(argv[3], "all") || (rank && !strcmp(rank, argv[3])))
        if (!dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL)) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    MPI_Init(&argc, &argv);
    MPI_File file = open_own_file(argv[1]);
    write_requests(file, 0, 10);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
