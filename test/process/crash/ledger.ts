/** What clients sent and what they were told, compared with what is stored in the end. */
import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { type Chance, chanceFrom } from '../../support/seeded.ts'
import { SEED } from '../../support/seed.ts'
import { textOf } from '../../support/service.ts'
import type { SmaltProcess } from '../../support/smalt-process.ts'

/** Whether it happened: certainly, certainly not, or nobody knows. */
type Known = 'done' | 'not' | 'unknown'

export interface Sending {
  readonly method: string
  readonly path: string
  readonly body: JsonObject
  /** To be told the answer, or why there is none. */
  // eslint-disable-next-line typescript/no-explicit-any -- whatever came
  readonly note: (answer: any) => void
}

interface Batch {
  readonly no: number
  readonly size: number
  inserted: Known
  deleted: Known
}

/** A number that only its client changes. */
interface Counter {
  least: number
  most: number
}

export class Ledger {
  readonly counts = { done: 0, not: 0, unknown: 0 }
  readonly #chance: Chance = chanceFrom(SEED + 1)
  readonly #batches: Batch[] = []
  readonly #counters = new Map<string, Counter>()
  /** The last version acknowledged of a note, and those nobody knows of since. */
  readonly #notes = new Map<string, { readonly possible: Set<number | undefined>; last: number }>()

  constructor(clients: number) {
    for (let client = 0; client < clients; client++)
      for (const name of ['a', 'b', 'c']) this.#counters.set(`${name}${client}`, { least: 0, most: 0 })
  }

  next(client: number): Sending {
    const kinds = [
      () => this.#insert(1),
      () => this.#insert(2 + this.#chance(30)),
      () => this.#add(client),
      () => this.#save(client),
      () => this.#delete() ?? this.#insert(1),
      () => this.#bulk(client),
    ]
    return kinds[this.#chance(kinds.length)]!()
  }

  summary(): string {
    const { done, not, unknown } = this.counts
    return `${done} acknowledged, ${not} refused, ${unknown} unknown`
  }

  #insert(size: number): Sending {
    const batch: Batch = { no: this.#batches.length, size, inserted: 'unknown', deleted: 'not' }
    this.#batches.push(batch)
    return this.#sending('PUT', '/data/insert/entry', {
      body: { data: documentsOf(batch) },
      expected: size,
      learn: (known) => (batch.inserted = known),
    })
  }

  #delete(): Sending | undefined {
    const batch = this.#batches.find(
      ({ inserted, deleted }, i) => inserted === 'done' && deleted === 'not' && i % 3 === 0,
    )
    if (!batch) return undefined
    batch.deleted = 'unknown'
    return this.#sending('POST', '/data/delete/entry', {
      body: { query: { field: 'batch', op: '=', rvalue: batch.no } },
      expected: batch.size,
      learn: (known) => (batch.deleted = known),
    })
  }

  #add(client: number): Sending {
    const id = `c${client}`
    return this.#sending('POST', '/data/update/counter', {
      body: { query: { field: '_id', op: '=', rvalue: id }, update: { $add: { n: 1 } } },
      expected: 1,
      learn: (known) => this.#count(id, known),
    })
  }

  #save(client: number): Sending {
    const _id = `n${client}-${this.#chance(4)}`
    const note = this.#notes.get(_id) ?? { possible: new Set([undefined]), last: 0 }
    this.#notes.set(_id, note)
    const v = ++note.last
    return this.#sending('POST', '/data/save/note', {
      body: { data: { _id, v, code: `${_id}/${v}` }, upsert: true },
      expected: 1,
      learn(known) {
        if (known === 'done') note.possible.clear()
        if (known !== 'not') note.possible.add(v)
      },
    })
  }

  /** Two counters rise together, and a batch comes with them. */
  #bulk(client: number): Sending {
    const batch: Batch = { no: this.#batches.length, size: 2, inserted: 'unknown', deleted: 'not' }
    this.#batches.push(batch)
    const add = (id: string, seq: number): JsonObject => ({
      seq,
      op: 'update',
      request: {
        entity: 'counter',
        query: { field: '_id', op: '=', rvalue: id },
        update: { $add: { n: 1 } },
      },
    })
    const insert = { seq: 2, op: 'insert', request: { entity: 'entry', data: documentsOf(batch) } }
    const ids = [`a${client}`, `b${client}`]
    return this.#sending('POST', '/data/bulk', {
      body: { atomic: true, requests: [add(ids[0]!, 1), insert, add(ids[1]!, 3)] },
      learn: (known) => {
        batch.inserted = known
        for (const id of ids) this.#count(id, known)
      },
    })
  }

  #sending(
    method: string,
    path: string,
    how: { readonly body: object; readonly expected?: number; readonly learn: (known: Known) => void },
  ): Sending {
    return {
      method,
      path,
      body: how.body as JsonObject,
      note: (answer) => {
        const known: Known = typeof answer === 'string' ? (answer as Known) : 'done'
        if (known === 'done') checkAnswer(answer, how.expected)
        this.counts[known]++
        how.learn(known)
      },
    }
  }

  #count(id: string, known: Known): void {
    const counter = this.#counters.get(id)!
    if (known === 'done') counter.least++
    if (known !== 'not') counter.most++
  }

  /** After this, what was unknown is known. */
  async check(smalt: SmaltProcess, when: string): Promise<void> {
    await this.#checkBatches(smalt, when)
    await this.#checkCounters(smalt, when)
    await this.#checkNotes(smalt, when)
  }

  async #checkBatches(smalt: SmaltProcess, when: string): Promise<void> {
    const found = Map.groupBy(await stored(smalt, 'entry'), ({ batch }) => batch as number)
    for (const batch of this.#batches) {
      const own = found.get(batch.no) ?? []
      found.delete(batch.no)
      const what = `${when}: batch ${JSON.stringify(batch)} has ${own.length} documents`
      assert.ok(own.length === 0 || own.length === batch.size, what)
      assert.equal(new Set(own.map(({ place }) => place)).size, own.length, what)
      const isThere = own.length > 0
      if (batch.deleted === 'unknown') batch.deleted = isThere ? 'not' : 'done'
      else if (batch.inserted === 'unknown') batch.inserted = isThere ? 'done' : 'not'
      assert.equal(isThere, batch.inserted === 'done' && batch.deleted === 'not', what)
    }
    assert.deepEqual([...found.keys()], [], `${when}: documents that nobody sent`)
  }

  async #checkCounters(smalt: SmaltProcess, when: string): Promise<void> {
    const counters = new Map((await stored(smalt, 'counter')).map(({ _id, n }) => [textOf(_id), Number(n)]))
    assert.equal(counters.size, this.#counters.size)
    for (const [id, counter] of this.#counters) {
      const n = counters.get(id)!
      assert.ok(n >= counter.least && n <= counter.most, `${when}: ${id} is ${n}, ${JSON.stringify(counter)}`)
      if (id.startsWith('a'))
        assert.equal(n, counters.get(id.replace('a', 'b')), `${when}: ${id} is half done`)
      Object.assign(counter, { least: n, most: n })
    }
  }

  async #checkNotes(smalt: SmaltProcess, when: string): Promise<void> {
    const notes = Map.groupBy(await stored(smalt, 'note'), ({ _id }) => textOf(_id))
    for (const [id, { possible }] of this.#notes) {
      const own = notes.get(id) ?? []
      assert.ok(own.length <= 1, `${when}: ${id} is there twice`)
      const v = own[0] && Number(own[0]['v'])
      assert.ok(possible.has(v), `${when}: ${id} is ${v}, expected one of ${[...possible].join()}`)
      possible.clear()
      possible.add(v)
    }
  }
}

function documentsOf({ no, size }: Pick<Batch, 'no' | 'size'>): JsonObject[] {
  return Array.from({ length: size }, (_, place) => ({
    batch: no,
    place,
    code: `${no}/${place}`,
    list: [no, place],
  }))
}

// eslint-disable-next-line typescript/no-explicit-any -- whatever came
function checkAnswer(answer: any, expected: number | undefined): void {
  const responses = answer.responses?.map((each: { response: object }) => each.response) ?? [answer]
  for (const { status } of responses) assert.equal(status, 'COMPLETE', JSON.stringify(answer))
  if (expected !== undefined) assert.equal(answer.modifiedCount, expected, JSON.stringify(answer))
}

async function stored(smalt: SmaltProcess, entity: string): Promise<readonly JsonObject[]> {
  const answer = await smalt.ask('GET', `/data/find/${entity}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json.processed
}
