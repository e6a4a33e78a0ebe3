/* The colours of devices, the same in every picture and chart.
 *
 * Colour-blind people, too, can tell the lines apart: they are at least 20 CIELAB units from each other for normal
 * vision and for protanopia, deuteranopia and tritanopia as simulated by Machado, Oliveira and Fernandes ("A
 * physiologically-based model for simulation of color vision deficiency", 2009).  No line is red, which reads as an
 * error.  Fills are pale enough for black letters.  From device 8 on the colours repeat. */
#ifndef PCC_BACKENDS_PALETTE_H
#define PCC_BACKENDS_PALETTE_H

#include <stdint.h>

enum { PALETTE = 8 }; /* number of different colours */

/* Return a colour of device dev, such as "#035ecf": palette_line() the colour of its lines, palette_fill() the pale
 * colour that fills its boxes. */
const char *palette_line(uint32_t dev);
const char *palette_fill(uint32_t dev);

#endif
