/**
 * The documents that this process replaced last, as they are since then: a document that was changed is often changed again soon,
 * and then it need not be read again. Another process may have written it meanwhile, so a change that is made of it counts only if
 * it is written, and the statement writes it only if the document still has this version.
 */
import { SizedCache } from '../../../base/sized-cache.ts'
import type { StoredDocument } from '../../../plan/plan.ts'
import type { Table } from '../schema/catalogue.ts'

export interface RecentDocuments {
  /** Of several changes that begin at once, one gets the document; the others would fail. */
  take(table: Table, key: string): StoredDocument | undefined
  put(table: Table, key: string, document: StoredDocument): void
}

export function createRecentDocuments(maxBytes = MAX_BYTES): RecentDocuments {
  const documents = new SizedCache<string, StoredDocument>(maxBytes)
  return {
    take(table, key) {
      const name = nameOf(table, key)
      const document = documents.get(name)
      documents.delete(name)
      return document
    },
    put(table, key, document) {
      const { length } = document.text
      if (length > MAX_CHARACTERS) return
      documents.set(nameOf(table, key), document, length + OVERHEAD_BYTES)
    },
  }
}

const MAX_BYTES = 4 * 2 ** 20
/** Of larger documents, fewer would fit than are changed at a time. */
const MAX_CHARACTERS = 16_384
/** Of keys and objects. */
const OVERHEAD_BYTES = 300

function nameOf({ name }: Table, key: string): string {
  return `${name} ${key}`
}
