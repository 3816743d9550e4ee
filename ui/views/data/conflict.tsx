/** Somebody else changed the document meanwhile: both sides, and the choice. */
import type { JSX } from 'preact'
import type { Versioned } from '../../client/data-client.ts'
import type { JsonObject } from '../../client/json.ts'
import { Value } from '../../parts/value.tsx'
import { isPredefined } from '../../schema/columns.ts'
import { differences } from '../../schema/draft.ts'

interface ConflictProps {
  readonly mine: JsonObject
  readonly theirs: Versioned
  readonly onTakeTheirs: () => void
  readonly onKeepMine: () => void
}

export function Conflict({ mine, theirs, onTakeTheirs, onKeepMine }: ConflictProps): JSX.Element {
  const found = differences(theirs.document, mine).filter(({ path }) => !isPredefined(path))
  return (
    <section class="conflict" role="alert">
      <h3>Somebody changed this document meanwhile</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Stored now</th>
            <th scope="col">Yours</th>
          </tr>
        </thead>
        <tbody>
          {found.map(({ path, before, after }) => (
            <tr key={path}>
              <th scope="row">{path}</th>
              <td>
                <Value value={before} />
              </td>
              <td>
                <Value value={after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="row">
        <button type="button" onClick={onTakeTheirs}>
          Discard yours
        </button>
        <button type="button" class="danger" onClick={onKeepMine}>
          Save yours over it
        </button>
      </p>
    </section>
  )
}
