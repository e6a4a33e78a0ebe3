/* The colours of devices, the same in every picture and chart.
 *
 * Lines can be told apart by everybody: they are at least 20 CIELAB units from each other for normal vision and for
 * protanopia, deuteranopia and tritanopia as simulated by Machado, Oliveira and Fernandes ("A physiologically-based
 * model for simulation of color vision deficiency", 2009).  None is red, which reads as an error.  Fills are pale
 * enough for black letters.  Further devices have the same colours again. */
#ifndef PCC_BACKENDS_PALETTE_H
#define PCC_BACKENDS_PALETTE_H

#include <stdint.h>

enum { PALETTE = 8 }; /* colours */

/* "#035ecf" */
const char *palette_line(uint32_t dev);
const char *palette_fill(uint32_t dev);

#endif
