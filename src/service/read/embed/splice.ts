/**
 * Splices the text of referenced documents into the text of the document that contains them, if neither has
 * to be parsed.
 */
import type { PlannedJoin } from '../../../plan/joins.ts'
import { type JoinedDocuments, type StoredDocument, TOO_LARGE } from '../../../plan/plan.ts'
import type { JsonText } from '../../response.ts'
import { tooLarge } from '../../memory-limits.ts'

/** Undefined if a joined document may have fields that its schema does not define. */
type Splice = (text: JsonText, document: StoredDocument) => JsonText | undefined

/** Undefined if fields of the joined documents have to be hidden, projected or embedded. */
export function compileSplice(joins: readonly PlannedJoin[]): Splice | undefined {
  if (!joins.every(({ plan }) => plan.isShownWhole)) return undefined
  const names = joins.map(({ plan }) => JSON.stringify(plan.steps[0]))
  const areKnown = joins.map(({ plan }) => knowing(plan.collection.paths))
  return (text, { joined = [] }) => {
    let members = ''
    // Behind them may be what the page is sorted by.
    for (const [i, documents] of joined.slice(0, joins.length).entries()) {
      if (documents.documents === null) continue
      if (documents.documents === TOO_LARGE_TEXT) throw tooLarge(joins[i]!)
      if (!areKnown[i]!(documents)) return undefined
      members += `,${names[i]}:${documents.documents}`
    }
    if (members === '') return text
    return `${text.slice(0, -1)}${text === '{}' ? members.slice(1) : members}}`
  }
}

const TOO_LARGE_TEXT = JSON.stringify(TOO_LARGE)

/** Whether the schema defines all fields of the documents; see `StoredDocument`. */
function knowing(known = Infinity): (documents: JoinedDocuments) => boolean {
  return ({ facts }) => facts === 'null' || Number(facts) <= known
}
