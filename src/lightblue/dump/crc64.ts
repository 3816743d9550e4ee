/** CRC-64 with the ECMA polynomial, by which mongodump protects each collection of an archive. */

const POLYNOMIAL = { high: 0xc96c5795, low: 0xd7870f42 }

/** Two halves of 32 bits, because BigInt would be many times slower. */
const TABLE = tables()

export class Crc64 {
  #high = 0xffffffff
  #low = 0xffffffff

  add(bytes: Uint8Array): void {
    const { highs, lows } = TABLE
    let [high, low] = [this.#high, this.#low]
    for (const byte of bytes) {
      const i = (low ^ byte) & 0xff
      low = ((low >>> 8) | (high << 24)) ^ lows[i]!
      high = (high >>> 8) ^ highs[i]!
    }
    this.#high = high
    this.#low = low
  }

  /** As a signed number of 64 bits, which is how archives contain it. */
  value(): bigint {
    const high = BigInt(~this.#high >>> 0)
    const low = BigInt(~this.#low >>> 0)
    return BigInt.asIntN(64, (high << 32n) | low)
  }
}

function tables(): { readonly highs: Int32Array; readonly lows: Int32Array } {
  const highs = new Int32Array(256)
  const lows = new Int32Array(256)
  for (let i = 0; i < 256; i++) {
    let [high, low] = [0, i]
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = (low & 1) === 1
      low = (low >>> 1) | (high << 31)
      high >>>= 1
      if (!isOdd) continue
      low ^= POLYNOMIAL.low
      high ^= POLYNOMIAL.high
    }
    highs[i] = high
    lows[i] = low
  }
  return { highs, lows }
}
