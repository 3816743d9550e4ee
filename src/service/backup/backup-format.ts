/**
 * The format of a backup: gzip members one after the other, so that `zcat` shows it as lines of JSON. Each member is a page
 * of one section. The last but one lists all pages with their places and checksums, and the last one, of a fixed size, says
 * where that list is.
 */
export const FORMAT = 2

/** The format in which `sinks` was one line, an object with the rows of both tables. */
export const FORMAT_WITH_JOINT_SINKS = 1

/** The parts of a backup. Those of a collection have its number, by the order of `collections`. */
export type SectionName =
  | 'header'
  | 'collections'
  | 'records'
  | 'sequences'
  | 'history'
  | 'documents'
  | 'past'
  | 'events'
  | 'sinks'
  | 'sink-items'
  | 'answers'
  | 'index'

export interface Page {
  readonly section: SectionName
  readonly collection?: number
  readonly offset: number
  /** Bytes of the gzip member. */
  readonly length: number
  readonly rows: number
  /** Of the gzip member, in hexadecimal digits. */
  readonly sha256: string
}

export interface Header {
  readonly format: number
  readonly kind: 'sqlite' | 'postgres'
  /** When the backup was begun. */
  readonly made: string
  readonly lastEvent: number
}

export class BackupError extends Error {}

/** The last member: 16 + 16 digits and 64 hexadecimal ones, stored without compression so that its size is fixed. */
interface Footer {
  readonly offset: number
  readonly length: number
  readonly sha256: string
}

export function printFooter({ offset, length, sha256 }: Footer): string {
  const digits = (number: number): string => String(number).padStart(16, '0')
  return `{"index":"${digits(offset)}:${digits(length)}:${sha256}"}\n`
}

export function parseFooter(text: string): Footer {
  const [, offset, length, sha256] = /^\{"index":"(\d{16}):(\d{16}):([0-9a-f]{64})"\}\n$/.exec(text) ?? []
  if (sha256 === undefined) throw damaged('its end is missing')
  return { offset: Number(offset), length: Number(length), sha256 }
}

const FOOTER_TEXT = printFooter({ offset: 0, length: 0, sha256: '0'.repeat(64) }).length
/** Header of gzip, header of a stored block, trailer of gzip. */
export const FOOTER_BYTES = 10 + 5 + FOOTER_TEXT + 8

export function damaged(what: string): BackupError {
  return new BackupError(`the backup is damaged, or no backup: ${what}`)
}
