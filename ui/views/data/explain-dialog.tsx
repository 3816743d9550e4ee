/** How a find is executed: the request as JSON and as curl, the plan, its time, and the index that would help. */
import type { JSX } from 'preact'
import { useLoaded } from '../../app/loading.ts'
import { href, useChoice } from '../../app/place.ts'
import { callerHeaders, client } from '../../app/session.ts'
import { asList, asObject, findBody, pathOf } from '../../client/data-client.ts'
import { type Json, isArray, isObject, printJson, textOf } from '../../client/json.ts'
import type { Find, Metadata } from '../../client/types.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure, Progress } from '../../parts/notices.tsx'
import { Tabs } from '../../parts/tabs.tsx'

interface ExplainDialogProps {
  readonly find: Find
  readonly metadata: Metadata
  readonly onClose: () => void
}

const TABS = [
  { name: 'plan', label: 'Plan' },
  { name: 'json', label: 'JSON' },
  { name: 'curl', label: 'curl' },
  { name: 'sql', label: 'SQL' },
] as const

export function ExplainDialog({ find, metadata, onClose }: ExplainDialogProps): JSX.Element {
  const paged: Find = { ...find, range: [0, 99] }
  const explained = useLoaded(() => client.explain(paged), [])
  const [tab, setTab] = useChoice(
    'explained',
    TABS.map(({ name }) => name),
  )
  const { value } = explained
  const { plan, query } = asObject(value && storePart(value))
  // a filter as text stands there as a query
  const { query: asked } = asObject(asObject(value)['request'])
  const { winningPlan } = asObject(asObject(plan)['queryPlanner'])
  return (
    <Dialog title={`Explain the find of ${find.entity}`} isWide onClose={onClose}>
      {explained.failure !== undefined && <Failure failure={explained.failure} />}
      {!value && explained.isLoading && <Progress label="Asking the store" />}
      {value && (
        <Tabs label="Explanation" tabs={TABS} current={tab} onChoose={setTab}>
          {tab === 'plan' && <Plan plan={plan} find={{ ...find, query: asked }} metadata={metadata} />}
          {tab === 'json' && <Code text={printJson(findBody(paged), 2)} />}
          {tab === 'curl' && <Code text={curlFor(paged)} />}
          {tab === 'sql' && <Code text={printJson(query ?? winningPlan ?? null, 2)} />}
        </Tabs>
      )}
    </Dialog>
  )
}

/** The explanation stands under the name of the store. */
function storePart(explained: Json): Json {
  const isStore = (name: string): boolean => name !== 'request' && name !== 'references'
  return Object.entries(asObject(explained)).find(([name]) => isStore(name))?.[1] ?? null
}

interface PlanProps {
  readonly plan: Json | undefined
  readonly find: Find
  readonly metadata: Metadata
}

function Plan({ plan, find, metadata }: PlanProps): JSX.Element {
  const { queryPlanner, executionStats } = asObject(plan)
  const { stage, indexes, steps } = asObject(asObject(queryPlanner)['winningPlan'])
  const { nReturned, executionTimeMillis } = asObject(executionStats)
  const used = asList(indexes).map((each) =>
    asList(asObject(each)['fields'])
      .map((field) => textOf(asObject(field)['field']))
      .join(', '),
  )
  const helpful = stage === 'SCAN' ? helpfulFields(find) : []
  return (
    <div class="plan">
      <dl class="facts">
        <dt>Access</dt>
        <dd>
          <span class={`badge ${stage === 'INDEX' ? 'allow' : 'conditional'}`}>
            {textOf(stage ?? 'unknown')}
          </span>{' '}
          {used.length > 0 ? `by ${used.join('; ')}` : stage === 'SCAN' && 'reads every document'}
        </dd>
        <dt>Time</dt>
        <dd>{textOf(executionTimeMillis ?? '?')} ms</dd>
        <dt>Returned</dt>
        <dd>{textOf(nReturned ?? '?')}</dd>
      </dl>
      <h3>Steps</h3>
      <StepTree steps={steps ?? []} />
      {helpful.length > 0 && (
        <div class="notice">
          <p>
            An index on <strong>{helpful.join(', ')}</strong> would help. Add it to <code>indexes</code> of
            the entity info:
          </p>
          <Code
            text={printJson({
              name: `by ${helpful.join(', ')}`,
              fields: helpful.map((field) => ({ field })),
            })}
          />
          <a href={href(['schemas', metadata.entityInfo.name], { tab: 'edit' })}>Open the schema</a>
        </div>
      )}
    </div>
  )
}

/** Steps of a plan, drawn as a tree: SQLite lists lines, PostgreSQL nests nodes. */
function StepTree({ steps }: { readonly steps: Json }): JSX.Element {
  if (isArray(steps)) {
    return (
      <ul class="tree">
        {steps.map((each, i) => (
          <li key={i}>
            <StepTree steps={each} />
          </li>
        ))}
      </ul>
    )
  }
  if (!isObject(steps)) return <code>{textOf(steps)}</code>
  const { Plans: children, ...facts } = steps
  const shown = Object.entries(facts).filter(([, value]) => !isObject(value) && !isArray(value))
  return (
    <>
      <code>{shown.map(([name, value]) => `${name}: ${textOf(value)}`).join(' · ')}</code>
      {children !== undefined && <StepTree steps={children} />}
      {Object.values(facts)
        .filter(isObject)
        .map((each, i) => (
          <StepTree key={i} steps={[each]} />
        ))}
    </>
  )
}

/** Fields that the query compares for equality first, then those of the sort: the order an index wants. */
function helpfulFields({ query, sort }: Find): readonly string[] {
  const compared = comparisonsIn(query ?? null)
  const sorted = asList(sort).flatMap((each) => Object.keys(asObject(each)))
  return [...new Set([...compared, ...sorted])].slice(0, 3)
}

function comparisonsIn(query: Json): readonly string[] {
  if (!isObject(query)) return []
  const { field, op } = query
  if (typeof field === 'string' && op !== undefined && op !== '!=' && op !== '$neq') return [field]
  const all = query['$and'] ?? query['$all']
  return all === undefined ? [] : asList(all).flatMap(comparisonsIn)
}

function curlFor(find: Find): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
  const headers = Object.entries(callerHeaders()).map(([name, value]) =>
    name === 'Authorization' ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`,
  )
  const body = quoted(printJson(findBody(find), 2))
  const address = quoted(location.origin + pathOf('find', find))
  return [`curl -sS -X POST ${address}`, ...headers, `--json ${body}`].join(' \\\n  ')
}

function Code({ text }: { readonly text: string }): JSX.Element {
  return (
    <div class="code-block">
      <CopyButton text={text} />
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}
