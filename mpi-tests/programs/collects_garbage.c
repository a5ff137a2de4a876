/* Boehm's collector looks for pointers on the stack, whose end it takes from the C library. Makes lists of
 * which most is garbage, writes 2 MB to "own" in the working directory, and says whether the list that it
 * kept is whole. */
#include <fcntl.h>
#include <gc/gc.h>
#include <stdio.h>
#include <unistd.h>

struct node {
    struct node *next;
    long value;
    char filling[200];
};

int main(void)
{
    static char data[1000];
    long sum = 0, written = 0;
    GC_INIT();
    struct node *kept = NULL;
    int file = open("own", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    for (int i = 0; i < 200000; i++) {
        struct node *one = GC_MALLOC(sizeof *one);
        one->value = i;
        if (i % 100 == 0) {
            one->next = kept;
            kept = one;
            written += write(file, data, sizeof data);
        }
    }
    for (struct node *one = kept; one; one = one->next)
        sum += one->value;
    printf("%ld bytes, sum %ld, %s\n", written, sum, GC_get_gc_no() > 0 ? "collected" : "never collected");
    return 3;
}
