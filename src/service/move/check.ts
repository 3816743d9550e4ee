/** Checks that two stores contain the same data, by counts and by checksums that do not depend on order. */
import { createHash, hash } from 'node:crypto'
import { compareText } from '../../base/text.ts'
import type { Collection } from '../../schema/schema.ts'
import type {
  StoreExport,
  ExportedCollection,
  ExportedDocument,
  ExportedRecords,
} from '../../store/transfer.ts'
import { MoveError } from './move-error.ts'

/** Accumulates pages; the result is the same for the same documents in any order. */
export interface Tally {
  add(documents: readonly ExportedDocument[]): void
  documents(): number
  checksum(): string
}

export function createTally(): Tally {
  let count = 0
  let [low, high] = [0n, 0n]
  return {
    add(documents) {
      for (const { key, version, text } of documents) {
        const digest = hash('sha256', `${key}\0${version}\0${text}`, 'buffer')
        low = BigInt.asUintN(64, low + digest.readBigUInt64BE(0))
        high = BigInt.asUintN(64, high + digest.readBigUInt64BE(8))
      }
      count += documents.length
    },
    documents: () => count,
    checksum: () => high.toString(16).padStart(16, '0') + low.toString(16).padStart(16, '0'),
  }
}

export async function tallyOf(
  transfer: StoreExport,
  collection: Collection,
  onPage: (documents: number) => void,
): Promise<Tally> {
  const tally = createTally()
  for await (const page of transfer.documents(collection)) {
    tally.add(page)
    onPage(page.length)
  }
  return tally
}

interface Sides {
  readonly source: StoreExport
  readonly target: StoreExport
  /** The records that the target must contain. */
  readonly records: ExportedRecords
}

/** Checks everything except documents. A source that has changed since the start of the move is in use. */
export async function checkRest({ source, target, records }: Sides): Promise<void> {
  const [from, to] = await Promise.all([source.records(), target.records()])
  if (from.epoch !== records.epoch) throw inUse('its metadata')
  if (textOf({ ...to, epoch: 0 }) !== textOf({ ...records, epoch: 0 })) throw differs('the metadata')
  const parts = [
    ['the collections and their indexes', async (each: StoreExport) => shapesOf(await each.collections())],
    ['the past versions of documents', historyChecksums],
    ['the sequences', async (each: StoreExport) => textOf(await each.sequences())],
    ['the history of metadata', historyDigest],
    ['the events', eventsDigest],
    ['the sinks of events', async (each: StoreExport) => textOf(await each.sinks())],
    ['the undelivered events of sinks', sinkItemsDigest],
    ['the answers to writes with a key', answersDigest],
  ] as const
  for (const [name, read] of parts) {
    const [there, here] = await Promise.all([read(source), read(target)])
    if (there !== here) throw differs(name)
  }
}

export function inUse(what: string): MoveError {
  return new MoveError(
    'conflict',
    `${what} changed in the source while it was moved; end whatever uses the source, and move again`,
  )
}

export function differs(what: string): MoveError {
  return new MoveError('failed', `${what} in the target is not what the source holds; nothing was moved`)
}

function shapesOf(collections: readonly ExportedCollection[]): string {
  const shapes = collections.map(({ collection: { name, entity }, paths, indexes, historySince }) =>
    textOf({ name, entity, paths, indexes: indexes.map(textOf).sort(), historySince }),
  )
  return shapes.sort().join('\n')
}

async function historyDigest(transfer: StoreExport): Promise<string> {
  const digest = createHash('sha256')
  for await (const page of transfer.history()) {
    for (const { entity, at, principal, action, version, before, after } of page) {
      digest.update(textOf([entity, at, principal, action, version ?? null, before, after]))
    }
  }
  return digest.digest('hex')
}

/** One checksum per collection, independent of the order of its changes. */
async function historyChecksums(transfer: StoreExport): Promise<string> {
  const sums: string[] = []
  for (const { collection } of await transfer.collections()) {
    const tally = createTally()
    for await (const page of transfer.past(collection)) {
      tally.add(
        page.map(({ key, version, ...rest }) => {
          const { follows, operation, principal, text } = rest
          return { key, version, text: textOf([follows, operation, principal, text]) }
        }),
      )
    }
    sums.push(`${collection.name}/${collection.entity} ${tally.documents()} ${tally.checksum()}`)
  }
  return sums.sort(compareText).join('\n')
}

async function eventsDigest(transfer: StoreExport): Promise<string> {
  const digest = createHash('sha256')
  for await (const page of transfer.events()) {
    for (const each of page) {
      const { seq, id, entity, hook, operation, document, at, details, before, after, holder } = each
      const states = [before, after, holder?.seq ?? seq]
      digest.update(textOf([seq, id, entity, hook, operation, document, at, details, ...states]))
    }
  }
  return digest.update(String(await transfer.lastEvent())).digest('hex')
}

async function sinkItemsDigest(source: StoreExport): Promise<string> {
  const digest = createHash('sha256')
  for await (const page of source.sinkItems()) for (const each of page) digest.update(textOf(each))
  return digest.digest('hex')
}

async function answersDigest(source: StoreExport): Promise<string> {
  const digest = createHash('sha256')
  for await (const page of source.answers()) for (const each of page) digest.update(textOf(each))
  return digest.digest('hex')
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))
}
