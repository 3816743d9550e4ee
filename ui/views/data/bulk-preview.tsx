/** What a bulk edit would do, as its dry run says. */
import type { JSX } from 'preact'
import { type JsonObject, textOf } from '../../client/json.ts'
import type { Updated } from '../../client/types.ts'
import { Value } from '../../parts/value.tsx'
import { valueAt } from '../../schema/columns.ts'

export interface Preview {
  readonly updated: Updated
  /** Some of the documents. */
  readonly pairs: readonly { readonly before: JsonObject; readonly after: JsonObject }[]
}

interface BulkPreviewProps {
  readonly preview: Preview
  readonly paths: readonly string[]
}

const SHOWN_FAILURES = 20

export function BulkPreview({ preview: { updated, pairs }, paths }: BulkPreviewProps): JSX.Element {
  const { matchCount, modifiedCount, failures, events } = updated
  const shown = [...new Set(paths)]
  const hooks = Object.entries(events)
  return (
    <section class="preview" aria-label="Preview">
      <p role="status">
        {modifiedCount.toLocaleString('en')} of {matchCount.toLocaleString('en')} would change
        {failures.length > 0 && `, ${failures.length.toLocaleString('en')} would fail`}.{' '}
        {hooks.length > 0 &&
          `Events: ${hooks.map(([hook, count]) => `${count.toLocaleString('en')} of ${hook}`).join(', ')}.`}
      </p>
      {failures.length > 0 && (
        <ul class="failures">
          {failures.slice(0, SHOWN_FAILURES).map(({ data, problems }, i) => (
            // a document without a readable `_id` has no name
            <li key={i} class="problem">
              {textOf(valueAt(data, '_id'))} {problems.map(({ msg }) => msg).join('; ')}
            </li>
          ))}
        </ul>
      )}
      {pairs.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Documents before and after">
          <table>
            <thead>
              <tr>
                <th scope="col">_id</th>
                {shown.map((path) => (
                  <th key={path} scope="col">
                    {path}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {pairs.map(({ before, after }) => (
                <tr key={textOf(after['_id'])}>
                  <th scope="row">{textOf(after['_id'])}</th>
                  {shown.map((path) => (
                    <td key={path}>
                      <del>
                        <Value value={valueAt(before, path)} />
                      </del>{' '}
                      <ins>
                        <Value value={valueAt(after, path)} />
                      </ins>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {pairs.length > 0 && pairs.length < modifiedCount && (
        <p class="hint">The first {pairs.length} are shown.</p>
      )}
    </section>
  )
}
