/** What is measured, in this order. */
import { aggregateFigures } from './aggregates.ts'
import {
  GUARDED,
  type Sent,
  TEXT_ONLY,
  documentByUrl,
  findByBody,
  findByUrl,
  health,
  insertOf,
  item,
  nextByEmail,
  pageOfCustomer,
  scanFor,
  taggedBy,
  updateOf,
} from './documents.ts'
import { BARE, type Figure, several } from './figure.ts'
import { type Begins, pageFigures } from './pages.ts'
import { referenceFigures } from './references.ts'
import { tableFigures } from './tables.ts'
import { textFigures } from './texts.ts'
import { type Ids, hookFigures } from './watched.ts'

export function figuresOf(known: Ids & { readonly begins: Begins }, documents: number): readonly Figure[] {
  const ids = known.items
  return [
    { name: 'static', title: 'static answer', connections: 64, requests: [health()], against: BARE },
    {
      name: 'find-get',
      title: 'find by id, GET',
      connections: 64,
      requests: ids.map(findByUrl),
      against: BARE,
    },
    {
      name: 'find-alone',
      title: 'find by id, GET',
      connections: 1,
      requests: ids.map(findByUrl),
      against: BARE,
    },
    {
      name: 'find-post',
      title: 'find by id, POST',
      connections: 64,
      requests: ids.map((id) => findByBody(id)),
      against: BARE,
    },
    {
      name: 'document',
      title: 'plain document by id, GET',
      connections: 64,
      requests: ids.map(documentByUrl),
      against: { kind: 'other', label: 'find', requests: ids.map(findByUrl) },
    },
    {
      name: 'page',
      title: 'page of 100 by indexed field',
      connections: 16,
      requests: several(1_000, (i) => pageOfCustomer(i, documents)),
      against: BARE,
    },
    {
      name: 'sorted',
      title: 'next 10 in the order of an index',
      connections: 16,
      requests: several(1_000, (i) => nextByEmail(i * 97)),
      against: BARE,
    },
    {
      name: 'scan',
      title: 'find by id during full scans',
      connections: 16,
      requests: ids.map(findByUrl),
      against: { kind: 'undisturbed', background: several(100, (i) => scanFor(`nothing ${i}`)) },
    },
    {
      name: 'tags',
      title: 'find 10 by array element',
      connections: 16,
      requests: several(1_000, (i) => taggedBy('tags.*', i, documents)),
      against: {
        kind: 'other',
        label: 'plain',
        requests: several(1_000, (i) => taggedBy('customer', i, documents)),
      },
    },
    {
      name: 'rules-find',
      title: 'find by id, with hidden fields',
      connections: 64,
      requests: ids.map((id) => findByBody(id, GUARDED)),
      against: { kind: 'other', label: 'open', requests: ids.map((id) => findByBody(id)) },
    },
    {
      name: 'rules-page',
      title: 'page of 100, with hidden fields',
      connections: 16,
      requests: several(1_000, (i) => pageOfCustomer(i, documents, GUARDED)),
      against: {
        kind: 'other',
        label: 'open',
        requests: several(1_000, (i) => pageOfCustomer(i, documents)),
      },
    },
    ...pageFigures(known.begins),
    ...referenceFigures(documents),
    ...textFigures(),
    ...aggregateFigures(),
    ...[1, 16, 64].map((connections): Figure => ({
      name: `insert-${connections}`,
      title: 'insert of one',
      connections,
      requests: several(1_000, (i) => insertOf([item(documents + i, documents)])),
      against: BARE,
    })),
    {
      name: 'update',
      title: 'update by id',
      connections: 16,
      requests: ids.map((id) => updateOf(id)),
      against: BARE,
    },
    ...hookFigures(known, documents),
    {
      name: 'batch',
      title: 'insert of 1,000, documents',
      connections: 4,
      requests: batches(documents),
      against: BARE,
      perRequest: 1_000,
    },
    {
      name: 'batch-text',
      title: 'the same, limit without jsonb and indexes',
      connections: 4,
      requests: batches(documents),
      against: { kind: 'bare', requests: batches(documents, TEXT_ONLY), label: 'text' },
      perRequest: 1_000,
      store: 'postgres',
    },
    ...tableFigures(ids, documents),
  ]
}

function batches(documents: number, suffix = ''): readonly Sent[] {
  return several(8, (n) =>
    insertOf(
      several(1_000, (i) => item(documents + n * 1_000 + i, documents)),
      { suffix },
    ),
  )
}
