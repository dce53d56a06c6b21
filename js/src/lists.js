// Lists, as they are used everywhere.

/** [of(0), of(1), ..., of(size - 1)] */
export const listed = (size, of) => Array.from({ length: size }, (_, place) => of(place));
export const sum = (numbers, of = Number) => numbers.reduce((total, each, place) => total + of(each, place), 0);
/** The places of the true values. */
export const trueAt = (bits) => bits.flatMap((bit, place) => (bit ? [place] : []));
/** How many bits a number has, without leading zeros. */
export const bitLength = (number) => (number ? number.toString(2).length : 0);
/** The bits of a number, the lowest first, and back. */
export const bitsOf = (number, size) => listed(size, (place) => Math.floor(number / 2 ** place) % 2 === 1);
export const numberOf = (bits) => sum(bits, (bit, place) => (bit ? 2 ** place : 0));
