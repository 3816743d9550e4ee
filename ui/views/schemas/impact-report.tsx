/** What a change of metadata would do, as its dry run says: documents, indexes, access, and who depends on it. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { href } from '../../app/place.ts'
import { printJson, textOf } from '../../client/json.ts'
import type { EntityImpact, Finding, Impact } from '../../client/types.ts'
import { Findings } from './findings.tsx'

interface ImpactReportProps {
  readonly impact: Impact
  readonly warnings: readonly Finding[]
}

export function ImpactReport({ impact, warnings }: ImpactReportProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null)
  // the report stands below a long form
  useEffect(() => heading.current?.focus(), [impact])
  return (
    <section class="impact" aria-label="What would happen">
      <h2 ref={heading} tabIndex={-1}>
        What would happen
      </h2>
      {!impact.changes && <p role="status">Nothing would change.</p>}
      {impact.entities.map((entity) => (
        <EntityReport key={entity.entity} report={entity} />
      ))}
      {warnings.length > 0 && <Findings findings={warnings} />}
    </section>
  )
}

function EntityReport({ report }: { readonly report: EntityImpact }): JSX.Element {
  const { entity, indexes, documents, dependents, searches } = report
  return (
    <>
      <p role="status">
        {documents.checked.toLocaleString('en')} {documents.checked === 1 ? 'document' : 'documents'} of{' '}
        {entity} checked{documents.complete ? '' : '; there are more, but the time was over'}.{' '}
        {documents.problems.length === 0 ? 'None violates the schema.' : 'Some violate the schema:'}
      </p>
      {documents.problems.length > 0 && <Problems report={report} />}
      <dl class="facts">
        <dt>Indexes to build</dt>
        <dd>{indexes.build.length === 0 ? 'none' : indexes.build.map(indexText).join('; ')}</dd>
        <dt>Indexes to drop</dt>
        <dd>{indexes.drop.length === 0 ? 'none' : indexes.drop.map(indexText).join('; ')}</dd>
        <dt>Entities that refer to it</dt>
        <dd>{dependents.length === 0 ? 'none' : dependents.join(', ')}</dd>
        <dt>Saved searches that would fail</dt>
        {searches.broken.length === 0 && (
          <dd>{searches.complete ? 'none' : 'unknown: there are too many'}</dd>
        )}
        {searches.broken.map(({ name, version, msg }) => (
          <dd key={`${name} ${version}`}>
            {name} {version !== null && <small>in {version}</small>}: {msg}
          </dd>
        ))}
      </dl>
      {report.access.length > 0 && <AccessChanges report={report} />}
    </>
  )
}

function indexText({ unique, fields }: EntityImpact['indexes']['build'][number]): string {
  return `${fields.join(', ')}${unique ? ' (unique)' : ''}`
}

function Problems({ report: { entity, documents } }: { readonly report: EntityImpact }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Documents that violate the schema">
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Problem</th>
            <th scope="col">Documents</th>
            <th scope="col">For example</th>
          </tr>
        </thead>
        <tbody>
          {documents.problems.map(({ version, errorCode, field, count, ids }) => (
            <tr key={`${version} ${errorCode} ${field}`}>
              <th scope="row">{field}</th>
              <td>
                <code>{errorCode}</code> in {version}
              </td>
              <td>{count.toLocaleString('en')}</td>
              <td>
                {ids.map((id) => (
                  <>
                    <a key={printJson(id)} href={href(['data', entity], { doc: printJson(id) })}>
                      {textOf(id)}
                    </a>{' '}
                  </>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function AccessChanges({ report: { access } }: { readonly report: EntityImpact }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Access that would change">
      <table>
        <thead>
          <tr>
            <th scope="col">Access to</th>
            <th scope="col">Operation</th>
            <th scope="col">Role</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {access.map(({ version, comparedWith, field, operation, role, before, after }) => (
            <tr key={`${version} ${field} ${operation} ${role}`}>
              <th scope="row">{field === '' ? 'the entity' : field}</th>
              <td>{operation}</td>
              <td>{role}</td>
              <td>
                {before ?? 'absent'} {comparedWith !== null && <small>in {comparedWith}</small>}
              </td>
              <td>{after ?? 'absent'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
