/* Whether this is a build with AddressSanitizer. */
#ifndef PCC_TESTS_SANITIZED_H
#define PCC_TESTS_SANITIZED_H

/* Brute force under a sanitizer takes several times as long: there a part of the instances will do. */
#if defined __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#elif defined __has_feature
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

#endif
