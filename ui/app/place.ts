/**
 * Where the user is: the part of the address after `#`, such as `#/data/country?sort=-name`. The browser does not send it,
 * so values in filters appear in no log.
 */
import { createStore, useStore } from './store.ts'

export interface Place {
  readonly path: readonly string[]
  readonly query: Query
}

export type Query = Readonly<Partial<Record<string, string>>>

/** Kept from place to place: whose rights apply. */
const KEPT = ['as', 'who', 'claims']

const store = createStore(parse(location.hash))
addEventListener('hashchange', () => store.set(parse(location.hash)))

export const placeStore = store

export function usePlace(): Place {
  return useStore(store)
}

/**
 * Like `useState`, for a choice that belongs in the address, so that a link opens the view as it is. An unknown value
 * in the address counts as the first choice.
 */
export function useChoice<T extends string>(name: string, choices: readonly T[]): [T, (choice: T) => void] {
  const [text, setText] = useText(name)
  const [first] = choices as readonly [T, ...T[]]
  const chosen = choices.find((each) => each === text) ?? first
  return [chosen, (choice) => setText(choice === first ? '' : choice)]
}

/** The same for any text; empty when the address does not have it. */
export function useText(name: string): [string, (text: string) => void] {
  const { query } = useStore(store)
  return [query[name] ?? '', (text) => change({ [name]: text }, true)]
}

export function currentPlace(): Place {
  return store.get()
}

/** The address of a place. */
export function href(path: readonly string[], query: Query = {}): string {
  const { query: current } = store.get()
  const kept = Object.fromEntries(KEPT.map((name) => [name, current[name]]))
  const given = Object.entries({ ...query, ...kept, ...pick(query, KEPT) }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  const search = new URLSearchParams(given).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`
}

export function go(path: readonly string[], query: Query = {}): void {
  location.hash = href(path, query)
}

/** Changes the query of the place; undefined removes a member. `isMinor` adds no entry to the history of the browser. */
export function change(query: Query, isMinor = false): void {
  const { path, query: current } = store.get()
  const address = href(path, { ...current, ...query })
  if (!isMinor) location.hash = address
  else {
    history.replaceState(null, '', address)
    store.set(parse(address))
  }
}

/** Replaces the whole address by that of the page at a place, in the history of the browser as well. */
export function arrive(hash: string): void {
  history.replaceState(null, '', `${location.pathname}${hash}`)
  store.set(parse(hash))
}

function parse(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const segments = path.split('/').filter((each) => each !== '')
  return { path: segments.map(decode), query: Object.fromEntries(new URLSearchParams(search)) }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function pick(query: Query, names: readonly string[]): Query {
  return Object.fromEntries(names.flatMap((name) => (name in query ? [[name, query[name]]] : [])))
}
