"""Random words as the keystream of AES-256 in counter mode, as our coins have it, a buffer at a time."""

import secrets

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

WORDS = 2**15  # 256 KiB: the loop that follows finds them in the cache


class Keystream:
    """`words` holds fresh random words after each `refill`."""

    def __init__(self) -> None:
        self._cipher = Cipher(AES(secrets.token_bytes(32)), CTR(secrets.token_bytes(16))).encryptor()
        self._zeros = bytes(8 * WORDS)
        self._buffer = bytearray(8 * WORDS + 15)  # the cipher asks for a block less a byte to spare
        self.words: npt.NDArray[np.uint64] = np.frombuffer(self._buffer, np.uint64, WORDS)

    def refill(self) -> None:
        self._cipher.update_into(self._zeros, self._buffer)
