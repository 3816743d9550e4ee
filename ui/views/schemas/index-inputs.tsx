/** Indexes in a form: of values in their order, or of words for text search. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { type Json, type JsonObject, isArray, isObject, textOf } from '../../client/json.ts'
import { Check } from '../../parts/check.tsx'
import { FieldPathInput, PathList } from '../../parts/field-path-input.tsx'
import { Icon } from '../../parts/icons.tsx'
import { JsonInput } from '../../parts/json-input.tsx'
import { type FieldPath, indexable } from '../../schema/field-paths.ts'
import {
  DIRECTIONS,
  type IndexDraft,
  LANGUAGES,
  NEW_INDEX,
  indexIn,
  isIdIndex,
  movedUp,
  pathsText,
  weightIn,
  withKind,
  withName,
} from '../../schema/index-draft.ts'
import { isSet, withMember } from '../../schema/members.ts'
import { INDEXES_AT, type MetadataProblem } from '../../schema/metadata-problem.ts'
import { PartList } from './part-list.tsx'

interface IndexInputsProps {
  readonly indexes: Json | undefined
  readonly paths: readonly FieldPath[]
  readonly problem: MetadataProblem | undefined
  readonly onChange: (indexes: Json) => void
}

export function IndexInputs({ indexes = [], paths, problem, onChange }: IndexInputsProps): JSX.Element {
  const id = useId()
  if (!isArray(indexes)) return <JsonInput label="Indexes as JSON" value={indexes} onChange={onChange} />
  return (
    <>
      <p class="hint">Documents are always found by _id; that index is not listed.</p>
      <PathList id={`${id}values`} paths={indexable(paths, false)} />
      <PathList id={`${id}words`} paths={indexable(paths, true)} />
      <PartList
        parts={indexes}
        at={INDEXES_AT}
        problem={problem}
        addLabel="Add an index"
        newPart={NEW_INDEX}
        labelOf={labelOf}
        isShown={(index) => !isIdIndex(index)}
        onChange={onChange}
      >
        {(index, change) => {
          const draft = indexIn(index)
          if (!draft || !isObject(index))
            return <JsonInput label="Index as JSON" value={index} onChange={change} />
          const list = `${id}${draft.isOfWords ? 'words' : 'values'}`
          return <IndexInput index={index} draft={draft} list={list} onChange={change} />
        }}
      </PartList>
    </>
  )
}

function labelOf(index: Json): string {
  const paths = pathsText(indexIn(index)?.keys ?? [])
  return paths === '' ? 'Index without fields' : `Index on ${paths}`
}

interface IndexInputProps {
  readonly index: JsonObject
  readonly draft: IndexDraft
  readonly list: string
  readonly onChange: (index: JsonObject) => void
}

function IndexInput({ index, draft: { isOfWords, keys }, list, onChange }: IndexInputProps): JSX.Element {
  const setKeys = (next: readonly JsonObject[]): void => onChange({ ...index, fields: next })
  return (
    <>
      <div class="row">
        <label>
          Name
          <input
            type="text"
            placeholder={isOfWords ? 'searches use it' : 'none'}
            value={textOf(index['name'] ?? '')}
            onInput={(event) => onChange(withName(index, event.currentTarget.value))}
          />
        </label>
        <label>
          Kind
          <select
            value={isOfWords ? 'text' : ''}
            onChange={(event) => onChange(withKind(index, event.currentTarget.value === 'text'))}
          >
            <option value="">values</option>
            <option value="text">words, for text search</option>
          </select>
        </label>
        {isOfWords ? (
          <LanguageSelect index={index} onChange={onChange} />
        ) : (
          <Check
            label="unique"
            isChecked={isSet(index['unique'])}
            onChange={(unique) => onChange({ ...index, unique })}
          />
        )}
      </div>
      {keys.map((key, i) => (
        <div key={i} class="row">
          <FieldPathInput
            label="Field"
            list={list}
            value={textOf(key['field'])}
            onChange={(field) => setKeys(keys.with(i, { ...key, field }))}
          />
          {isOfWords ? (
            <WeightInput indexKey={key} onChange={(next) => setKeys(keys.with(i, next))} />
          ) : (
            <OrderInputs indexKey={key} onChange={(next) => setKeys(keys.with(i, next))} />
          )}
          {i > 0 && (
            <button
              type="button"
              class="quiet icon-only"
              aria-label={`Move ${textOf(key['field'])} up`}
              onClick={() => setKeys(movedUp(keys, i))}
            >
              <Icon name="up" />
            </button>
          )}
          {keys.length > 1 && (
            <button
              type="button"
              class="quiet icon-only"
              aria-label={`Remove ${textOf(key['field'])} from the index`}
              onClick={() => setKeys(keys.toSpliced(i, 1))}
            >
              <Icon name="trash" />
            </button>
          )}
        </div>
      ))}
      <button
        type="button"
        class="quiet add-part"
        onClick={() => setKeys([...keys, isOfWords ? { field: '' } : { field: '', dir: '$asc' }])}
      >
        <Icon name="plus" />
        Add a field to the index
      </button>
    </>
  )
}

type ChangeIndex = Pick<IndexInputProps, 'index' | 'onChange'>

function LanguageSelect({ index, onChange }: ChangeIndex): JSX.Element {
  const language = textOf(index['language'])
  const isKnown = language === '' || (LANGUAGES as readonly string[]).includes(language)
  return (
    <label>
      Language
      <select
        value={language}
        onChange={(event) => onChange(withMember(index, 'language', event.currentTarget.value || undefined))}
      >
        <option value="">none: words as they are written</option>
        {!isKnown && <option>{language}</option>}
        {LANGUAGES.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </label>
  )
}

interface KeyProps {
  readonly indexKey: JsonObject
  readonly onChange: (key: JsonObject) => void
}

function WeightInput({ indexKey, onChange }: KeyProps): JSX.Element {
  return (
    <label>
      Weight
      <input
        type="text"
        inputMode="numeric"
        placeholder="1"
        value={textOf(indexKey['weight'])}
        onInput={(event) => onChange(withMember(indexKey, 'weight', weightIn(event.currentTarget.value)))}
      />
    </label>
  )
}

const DIRECTION_LABELS: Readonly<Record<string, string>> = { $asc: 'ascending', $desc: 'descending' }

function OrderInputs({ indexKey, onChange }: KeyProps): JSX.Element {
  const dir = textOf(indexKey['dir'] ?? '$asc')
  return (
    <>
      <label>
        Order
        <select value={dir} onChange={(event) => onChange({ ...indexKey, dir: event.currentTarget.value })}>
          {!(DIRECTIONS as readonly string[]).includes(dir) && <option>{dir}</option>}
          {DIRECTIONS.map((each) => (
            <option key={each} value={each}>
              {DIRECTION_LABELS[each]}
            </option>
          ))}
        </select>
      </label>
      <Check
        label="case is ignored"
        isChecked={isSet(indexKey['caseInsensitive'])}
        onChange={(caseInsensitive) => onChange({ ...indexKey, caseInsensitive })}
      />
    </>
  )
}
