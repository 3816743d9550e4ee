/** SQL fragments: which values travel beside the text, and how often. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { join, param, render, renderShared, sql } from '../../../src/store/sql/fragment.ts'

const numbered = (n: number): string => `$${n}`

test('fragment: shared rendering sends a parameter once, and equal values of two parameters twice', () => {
  const [text, other] = [param('same'), param('same')]
  const fragment = sql`with a as (values (${text}, ${other})) ${join([text, param(1), other], ' and ')}`
  assert.deepEqual(renderShared(fragment, numbered), {
    text: 'with a as (values ($1, $2)) $1 and $3 and $2',
    values: ['same', 'same', 1],
  })
})

test('fragment: rendering by place sends a parameter as often as it stands there', () => {
  const text = param('same')
  assert.deepEqual(
    render(sql`${text} and ${text}`, () => '?'),
    {
      text: '? and ?',
      values: ['same', 'same'],
    },
  )
})
