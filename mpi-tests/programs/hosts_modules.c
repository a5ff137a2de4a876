/* A host program, as Python is one, without MPI. It asks whether there is an MPI, loads modules that nobody
 * else sees the symbols of, and runs the last of them.
 * usage: hosts_modules DIRECTORY MODULE... */
#include <dlfcn.h>
#include <stdio.h>

extern int MPI_Init(int *argc, char ***argv) __attribute__((weak));

int main(int argc, char **argv) {
    void *module = NULL;
    if (MPI_Init != NULL)
        printf("MPI_Init says %d\n", MPI_Init(&argc, &argv));
    for (int i = 2; i < argc; i++)
        if ((module = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL)) == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    int (*run)(const char *) = module ? (int (*)(const char *))dlsym(module, "run") : NULL;
    return run ? run(argv[1]) : 2;
}
