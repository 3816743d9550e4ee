/**
 * An editor for JSON. It stands in a shadow root: its styles are then adopted style sheets, which the policy of the page
 * allows, while style elements are not.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import type { CompletionSource } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import {
  HighlightStyle,
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { type Diagnostic, lintGutter, linter } from '@codemirror/lint'
import { Annotation, EditorState, type Extension, StateEffect, type Transaction } from '@codemirror/state'
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface JsonEditorProps {
  readonly text: string
  readonly label: string
  readonly isReadOnly?: boolean
  readonly complete?: CompletionSource
  /** What is wrong, by position in the text. */
  readonly diagnostics?: readonly Diagnostic[]
  readonly onChange?: (text: string) => void
}

export function JsonEditor(props: JsonEditorProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(props)
  latest.current = props
  /** Texts that were typed and have not come back as `text` yet, oldest first. */
  const reported = useRef<string[]>([])
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    const extensions = [
      ...SHARED,
      problems(() => latest.current.diagnostics ?? []),
      ...(props.complete ? [autocompletion({ override: [props.complete] })] : []),
      EditorView.contentAttributes.of({ 'aria-label': props.label, tabindex: '0' }),
      EditorState.readOnly.of(props.isReadOnly === true),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged || update.transactions.some((each) => each.annotation(fromOutside))) return
        const text = update.state.doc.toString()
        reported.current.push(text)
        latest.current.onChange?.(text)
      }),
    ]
    const state = EditorState.create({ doc: props.text, extensions })
    view.current = new EditorView({ state, parent: root, root })
    return () => view.current?.destroy()
  }, [])
  useEffect(() => {
    const editor = view.current
    // what was typed comes back after more was typed: to put it there again would undo that, and be reported in turn
    const at = reported.current.lastIndexOf(props.text)
    reported.current = at === -1 ? [] : reported.current.slice(at + 1)
    if (at !== -1 || !editor || editor.state.doc.toString() === props.text) return
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: props.text },
      annotations: fromOutside.of(true),
    })
  }, [props.text])
  useEffect(() => {
    view.current?.dispatch({ effects: checkAgain.of(null) })
  }, [props.diagnostics])
  return <div ref={host} class="json-editor" />
}

const checkAgain = StateEffect.define()
const fromOutside = Annotation.define<boolean>()

/** Errors of the syntax and those that the page was told of, from one source: two would remove each other's. */
function problems(told: () => readonly Diagnostic[]): Extension {
  const parse = jsonParseLinter()
  return linter((view) => [...parse(view), ...told().filter(({ to }) => to <= view.state.doc.length)], {
    delay: 250,
    needsRefresh: ({ transactions }) =>
      transactions.some(({ effects }) => effects.some((effect) => effect.is(checkAgain))),
  })
}

/**
 * When a browser replaces selected lines, it preserves the look of the text with inline styles, which the policy of the page
 * forbids. So the editor replaces the selection itself.
 */
const TYPED_OVER = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state, composing } = view
    const { from, to, empty } = state.selection.main
    const text = event.inputType === 'insertText' ? event.data : null
    if (text === null || empty || composing) return false
    const replaced = (): Transaction =>
      state.update(state.replaceSelection(text), { userEvent: 'input.type' })
    const isHandled = state
      .facet(EditorView.inputHandler)
      .some((each) => each(view, from, to, text, replaced))
    if (!isHandled && !state.readOnly) view.dispatch(replaced())
    return true
  },
})

const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--syntax-name)' },
  { tag: tags.string, color: 'var(--syntax-string)' },
  { tag: tags.number, color: 'var(--syntax-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--syntax-word)' },
])

const THEME = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection) !important',
  },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
})

const SHARED = [
  lineNumbers(),
  history(),
  foldGutter(),
  lintGutter(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  EditorView.lineWrapping,
  TYPED_OVER,
  json(),
  syntaxHighlighting(HIGHLIGHT),
  THEME,
  keymap.of([
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...completionKeymap,
    // Escape, then Tab, leaves the editor
    indentWithTab,
  ]),
]
