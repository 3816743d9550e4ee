/**
 * Deterministic identifiers. Two runs generate different ones, and requests can sort and search by them. Identifiers
 * that increase and consist of digits give the same answers on both sides.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { randomUUID, randomFillSync } = crypto

/** Applies to the whole process until disposed. */
export function useDeterministicIds(): Disposable {
  let count = 0
  const digits = (): string => String(count++).padStart(14, '0')
  const uuid = (): ReturnType<typeof randomUUID> => {
    const text = digits()
    return `00000000-0000-4000-80${text.slice(0, 2)}-${text.slice(2)}`
  }
  /** For the pool of the identifiers that begin with the time: sixteen bytes for each, the last seven are kept. */
  const fill = <T extends NodeJS.ArrayBufferView>(bytes: T): T => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let end = 16; end <= buffer.length; end += 16) {
      buffer.write(`000000000000000000${digits()}`, end - 16, 'hex')
    }
    return bytes
  }
  replace(uuid, fill as typeof randomFillSync)
  return { [Symbol.dispose]: () => replace(randomUUID, randomFillSync) }
}

function replace(uuid: () => ReturnType<typeof randomUUID>, fill: typeof randomFillSync): void {
  crypto.randomUUID = uuid
  crypto.randomFillSync = fill
  syncBuiltinESMExports()
}
