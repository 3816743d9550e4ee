/** The file of records that an import rejected: one line of JSON each, with the place and the errors. */
import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs'
import type { Json } from '../../base/json/json.ts'
import { EXIT, Exit } from '../exit.ts'
import { writeWhole } from '../write-whole.ts'

export interface Rejects extends Disposable {
  readonly add: (reject: Readonly<Record<string, Json>>) => void
  readonly bytes: () => number
}

/** Opened by the first reject. What was written after the position that is resumed is written again, so it is removed. */
export function openRejects(path: string, keptBytes: number): Rejects {
  let file: number | undefined
  const opened = (): number => {
    if (file !== undefined) return file
    try {
      file = openSync(path, keptBytes > 0 ? 'r+' : 'w')
      ftruncateSync(file, keptBytes)
    } catch (error) {
      throw new Exit(EXIT.failed, `the file of rejects cannot be written: ${(error as Error).message}`)
    }
    return file
  }
  if (keptBytes > 0) opened()
  return {
    add(reject) {
      const at = opened()
      const file = { descriptor: at, name: 'the file of rejects' }
      writeWhole(file, `${JSON.stringify(reject)}\n`, fstatSync(at).size)
    },
    bytes: () => (file === undefined ? 0 : fstatSync(file).size),
    [Symbol.dispose]: () => {
      if (file !== undefined) closeSync(file)
    },
  }
}
