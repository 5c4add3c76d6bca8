// Look-ups in DPDK's rte_fib (DIR-24-8, cells of 2 bytes) or rte_fib6 (trie, cells of 4) of what Java has put into files.
// rte_fib 4|6 ROUTES KEYS ROUNDS, behind EAL's arguments and "--". Routes: the address in 1 or 4 words, its length, its hop.
// Prints, for the scalar look-up and that by AVX-512, each where it is there: its name, nanoseconds of processor time a
// look-up in bulks of 64, and the sum of the hops.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>

enum { BULK = 64 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void check(int failed, const char *what)
{
	if (failed) {
		fprintf(stderr, "%s failed: %s\n", what, rte_strerror(rte_errno));
		exit(1);
	}
}

static uint32_t *read_words(const char *name, size_t *count)
{
	FILE *file = fopen(name, "rb");
	check(!file || fseek(file, 0, SEEK_END), name);
	*count = ftell(file) / 4;
	rewind(file);
	uint32_t *words = malloc(*count * 4);
	check(!words || fread(words, 4, *count, file) != *count, name);
	fclose(file);
	return words;
}

static void *make(int family, const uint32_t *routes, size_t words)
{
	size_t n = words / (family == 4 ? 3 : 6);
	struct rte_fib_conf conf4 = {
		.type = RTE_FIB_DIR24_8,
		.max_routes = n + 1,
		.dir24_8 = { .nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = 32767 },
	};
	struct rte_fib6_conf conf6 = {
		.type = RTE_FIB6_TRIE,
		.max_routes = n + 1,
		.trie = { .nh_sz = RTE_FIB6_TRIE_4B, .num_tbl8 = 1 << 18 },
	};
	void *fib = family == 4 ? (void *)rte_fib_create("fib", 0, &conf4) : (void *)rte_fib6_create("fib", 0, &conf6);
	check(!fib, "creating the table");
	for (size_t i = 0; i < n; i++, routes += family == 4 ? 3 : 6)
		check(family == 4 ? rte_fib_add(fib, routes[0], routes[1], routes[2])
				  : rte_fib6_add(fib, (const uint8_t *)routes, routes[4], routes[5]),
		      "adding a route");
	return fib;
}

static void measure(const char *name, int family, void *fib, uint32_t *keys, size_t n, int rounds)
{
	uint64_t hops[BULK], sum = 0;
	double best = 1e18;
	for (int round = 0; round < rounds; round++) {
		sum = 0;
		double start = now();
		for (size_t i = 0; i + BULK <= n; i += BULK) {
			if (family == 4)
				rte_fib_lookup_bulk(fib, keys + i, hops, BULK);
			else
				rte_fib6_lookup_bulk(fib, (uint8_t(*)[16])(keys + 4 * i), hops, BULK);
			for (int k = 0; k < BULK; k++)
				sum += hops[k];
		}
		double took = (now() - start) / n;
		best = took < best ? took : best;
	}
	printf("%s %.3f %llu\n", name, best, (unsigned long long)sum);
}

int main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	check(used < 0, "rte_eal_init");
	argc -= used;
	argv += used;
	if (argc != 5)
		return 2;
	int family = atoi(argv[1]);
	size_t words, n;
	uint32_t *routes = read_words(argv[2], &words);
	uint32_t *keys = read_words(argv[3], &n);
	void *fib = make(family, routes, words);
	n /= family == 4 ? 1 : 4;
	if (!(family == 4 ? rte_fib_select_lookup(fib, RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO)
			  : rte_fib6_select_lookup(fib, RTE_FIB6_LOOKUP_TRIE_SCALAR)))
		measure("scalar", family, fib, keys, n, atoi(argv[4]));
	if (!(family == 4 ? rte_fib_select_lookup(fib, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512)
			  : rte_fib6_select_lookup(fib, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512)))
		measure("avx512", family, fib, keys, n, atoi(argv[4]));
	return 0;
}
