"""Finite fields: primes, primitive polynomials, and the longest sequences that a linear recurrence can make."""

import itertools
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.errors import InvalidParameter

Polynomial = tuple[int, ...]  # of degree n over F_p: the n coefficients below the leading one, constant first


def prime_factors(n: int) -> list[int]:
    """The different primes that divide n, in order.

    >>> prime_factors(4095)
    [3, 5, 7, 13]
    """
    found, divisor = [], 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            found.append(divisor)
            while n % divisor == 0:
                n //= divisor
        divisor += 1 if divisor == 2 else 2
    return [*found, n] if n > 1 else found


def is_prime(number: int) -> bool:
    """Whether a number below 2^64 is prime: Miller-Rabin with bases that decide all of them (Sorenson, Webster 2015).

    >>> [number for number in range(30) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    """
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    twos = ((number - 1) & (1 - number)).bit_length() - 1
    return all(_passes(number, base, twos) for base in bases)


def _passes(number: int, base: int, twos: int) -> bool:
    """Whether the square roots of one met on the way to base^(number - 1) are those that a prime has."""
    power = pow(base, number - 1 >> twos, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def prime_power(q: int) -> tuple[int, int] | None:
    """The prime p and the exponent m with q = p^m; None if there are none.

    >>> prime_power(27), prime_power(12)
    ((3, 3), None)
    """
    primes = prime_factors(q)
    if len(primes) != 1:
        return None
    exponent = 1
    while primes[0] ** exponent < q:
        exponent += 1
    return primes[0], exponent


@lru_cache(maxsize=64)
def primitive_polynomial(p: int, degree: int) -> Polynomial:
    """The first polynomial of this degree over F_p whose root generates the whole field of p^degree elements.

    First with the smallest constant term, then with the smallest number whose digits to base p are the other coefficients,
    that of x the lowest digit. Which one it is belongs to the wire format of what is built from it.

    >>> primitive_polynomial(2, 4)  # x^4 + x + 1
    (1, 1, 0, 0)
    """
    order = p**degree - 1
    cofactors = [order // prime for prime in prime_factors(order)]
    for constant in range(1, p):
        norm = (-1) ** degree * constant % p  # the root's norm, which generates F_p if the root generates the field
        if all(pow(norm, (p - 1) // prime, p) != 1 for prime in prime_factors(p - 1)):
            for high in itertools.product(range(p), repeat=degree - 1):
                polynomial = (constant, *reversed(high))
                if _is_primitive(polynomial, p, order, cofactors):
                    return polynomial
    raise AssertionError("every finite field has a generator")


def _is_primitive(polynomial: Polynomial, p: int, order: int, cofactors: list[int]) -> bool:
    """Whether x has this order modulo the polynomial: then its powers are all residues but 0, which are thus a field."""
    one = np.eye(1, len(polynomial), dtype=np.int64)[0]
    if not np.array_equal(power_of_x(order, polynomial, p), one):
        return False
    return not any(np.array_equal(power_of_x(cofactor, polynomial, p), one) for cofactor in cofactors)


def power_of_x(exponent: int, polynomial: Polynomial, p: int) -> Ints:
    """x^exponent modulo the polynomial, constant term first."""
    degree, tail = len(polynomial), -np.array(polynomial, np.int64) % p  # x^degree = tail
    over = np.empty((degree, degree), np.int64)  # x^degree, x^(degree + 1), ...
    over[0] = tail
    for row in range(1, degree):
        over[row] = _times_x(over[row - 1], tail, p)
    power = np.eye(1, degree, dtype=np.int64)[0]
    for bit in f"{exponent:b}":
        square = np.convolve(power, power)
        power = (square[:degree] + square[degree:] @ over[: degree - 1]) % p
        if bit == "1":
            power = _times_x(power, tail, p)
    return power


def _times_x(residue: Ints, tail: Ints, p: int) -> Ints:
    shifted = residue[-1] * tail
    shifted[1:] += residue[:-1]
    return shifted % p


def sequence(polynomial: Polynomial, p: int, size: int) -> NDArray[np.unsignedinteger]:
    """The coefficients of x^(degree - 1) in 1, x, x^2, ... modulo the polynomial: it starts 0, ..., 0, 1.

    If x^h = sum of c_j x^j, then s_(i + h) = sum of c_j s_(i + j), so what is known doubles in each step.
    """
    degree = len(polynomial)
    values = np.zeros(max(size, degree), np.min_scalar_type(degree * (p - 1) ** 2))
    values[degree - 1], known = 1, degree
    while known < size:
        new = min(known - degree + 1, size - known)
        total = values[known : known + new]
        for shift, factor in enumerate(power_of_x(known, polynomial, p)):
            if factor:
                total += values.dtype.type(factor) * values[shift : shift + new]
        total %= p
        known += new
    return values[:size]


@lru_cache(maxsize=16)
def field_tables(q: int) -> tuple[Ints, Ints]:
    """The sums and the products of all pairs of elements of the field of q = p^m elements, as tables of q x q numbers.

    An element is the number whose digits to base p are its coefficients, the constant the lowest: 0 and 1 are themselves.

    >>> field_tables(4)[1].tolist()
    [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]]
    """
    found = prime_power(q)
    if found is None:
        raise InvalidParameter(f"There is no field of {q} elements: their number must be a power of a prime.")
    p, m = found
    place = p ** np.arange(m)
    digits = np.arange(q)[:, None] // place % p
    sums = (digits[:, None] + digits[None, :]) % p @ place
    if m == 1:
        return sums, np.outer(np.arange(q), np.arange(q)) % q
    powers = np.array([power_of_x(k, primitive_polynomial(p, m), p) @ place for k in range(q - 1)])
    log = np.zeros(q, np.int64)
    log[powers] = np.arange(q - 1)
    products = powers[(log[:, None] + log[None, :]) % (q - 1)]
    products[0], products[:, 0] = 0, 0
    return sums, products
