/** Parsing of untrusted JSON: refusals name the position, and no digit is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SEED } from '../../support/seed.ts'
import { type Code, ServiceError } from '../../../src/base/errors.ts'
import { isNumber, member, numberText, pointer, sameJson } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { hasEscapedKey } from '../../../src/base/json/json-text.ts'
import { parseByHand } from '../../../src/base/json/parse-by-hand.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'

fc.configureGlobal({ seed: SEED })

const REFUSED: readonly (readonly [rule: string, text: string, code: Code, message: RegExp])[] = [
  [
    'text that is not JSON',
    '{"a":}',
    'crud:InvalidRequest',
    /not valid JSON at position 5: expected a value$/,
  ],
  ['an empty text', '', 'crud:InvalidRequest', /not valid JSON .*: it ends too early$/],
  ['something after the value', '{} {}', 'crud:InvalidRequest', /position 3.*: something follows the value$/],
  ['a name without quotes', '{a:1}', 'crud:InvalidRequest', /: expected a name in double quotes$/],
  ['a trailing comma', '{"a":1,}', 'crud:InvalidRequest', /: expected a name in double quotes$/],
  ['no colon', '{"a" 1}', 'crud:InvalidRequest', /: expected a colon$/],
  ['no comma', '{"a":1 "b":2}', 'crud:InvalidRequest', /: expected a comma or a closing brace$/],
  ['no comma in an array', '[1 2]', 'crud:InvalidRequest', /: expected a comma or a closing bracket$/],
  [
    'no comma, after raw digits',
    '[1.10 2]',
    'crud:InvalidRequest',
    /: expected a comma or a closing bracket$/,
  ],
  ['a text without end', '{"a":"x', 'crud:InvalidRequest', /: a text has no closing quote$/],
  ['a line break in a text', '"a\nb"', 'crud:InvalidRequest', /: a text contains a line break/],
  [
    'an unknown escape',
    '"\\x"',
    'crud:InvalidRequest',
    /: a text contains an escape that JSON does not have$/,
  ],
  ['a leading zero', '{"a":01}', 'crud:InvalidRequest', /: a number must not begin with 0$/],
  ['a duplicate key', '{"a":1,"a":2}', 'crud:InvalidRequest', /twice.*\(at \/a\)$/],
  [
    'a duplicate key in a nested object',
    '{"x":[{},{"a/b":{"k":1,"k":2}}]}',
    'crud:InvalidRequest',
    /\(at \/x\/1\/a~1b\/k\)$/,
  ],
  ['a duplicate key in two spellings', '{"a":1,"\\u0061":2}', 'crud:InvalidRequest', /\(at \/a\)$/],
  ['__proto__', '{"x":{"__proto__":{}}}', 'crud:InvalidRequest', /__proto__.*\(at \/x\)$/],
  ['__proto__ in another spelling', '{"\\u005f_proto__":1}', 'crud:InvalidRequest', /__proto__/],
  ['__proto__ in an array', '[[{"__proto__":1}]]', 'crud:InvalidRequest', /\(at \/0\/0\)$/],
  ['NUL in a text', '{"a":["\\u0000"]}', 'crud:InvalidRequest', /NUL.*\(at \/a\/0\)$/],
  ['NUL in a key', '{"a\\u0000":1}', 'crud:InvalidRequest', /NUL/],
  ['a lone surrogate', '{"a":"\\ud800"}', 'crud:InvalidRequest', /surrogate.*\(at \/a\)$/],
  ['surrogates in the wrong order', '{"a":"\\udc00\\ud800"}', 'crud:InvalidRequest', /surrogate/],
  ['a lone surrogate in a key', '{"\\ud800":1}', 'crud:InvalidRequest', /surrogate/],
  ['nesting deeper than the limit', '[[[[[1]]]]]', 'crud:LimitExceeded', /deeper than 4/],
]

for (const [rule, text, code, message] of REFUSED) {
  test(`parseJson: refuses ${rule}`, () => {
    assert.throws(
      () => parseJson(text, 4),
      (error) => {
        assert.ok(error instanceof ServiceError)
        assert.equal(error.code, code)
        assert.match(error.message, message)
        return true
      },
    )
  })
}

test('parseJson: the message of a refusal does not repeat the body', () => {
  assert.throws(
    () => parseJson('{"password":"hunter2",}', 9),
    (error) => error instanceof ServiceError && !error.message.includes('hunter2'),
  )
})

test('parseJson: accepts nesting up to the limit; brackets in strings do not count', () => {
  assert.deepEqual(parseJson('[[[["[[[[[[{{{{"]]]]', 4), [[[['[[[[[[{{{{']]]])
  assert.deepEqual(parseJson('["\\\\","\\"[[[[["]', 1), ['\\', '"[[[[['])
})

test('parseJson: accepts surrogate pairs in any spelling, and names of inherited members as keys', () => {
  assert.deepEqual(parseJson('["\\ud83d\\ude00","😀"]', 4), ['😀', '😀'])
  const value = parseJson('{"toString":1,"hasOwnProperty":2,"constructor":3}', 4)
  assert.equal(member(value, 'toString'), 1)
  assert.equal(member(parseJson('{}', 4), 'toString'), undefined)
})

const NUMBERS = [
  '0',
  '-0',
  '1.10',
  '1e400',
  '-1E-400',
  '9223372036854775807',
  '9007199254740993',
  '0.1',
  '1.0',
  '1E+2',
  '5e-324',
  '123456789012345678901234567890.5',
  '100',
  '-0.0',
  '1e2',
  '0.30000000000000004',
  '12345678901234567',
]

for (const digits of NUMBERS) {
  test(`parseJson: ${digits} keeps its digits`, () => {
    for (const text of [
      digits,
      `[${digits}]`,
      `{"a":${digits}}`,
      `[1, ${digits} ,2]`,
      `{"x":[0,{"a": ${digits}}]}`,
    ]) {
      assert.equal(JSON.stringify(parseJson(text, 9)), text.replaceAll(' ', ''))
      assert.equal(JSON.stringify(parseTrusted(text.replaceAll(' ', ''))), text.replaceAll(' ', ''))
    }
    const value = parseJson(digits, 9)
    assert.ok(isNumber(value))
    assert.equal(numberText(value), digits)
  })
}

test('parseTrusted: printed text is parsed to the same value', () => {
  const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/)
  const spaces = fc.constantFrom('', ' ', '\n', '\t')
  fc.assert(
    fc.property(fc.array(fc.tuple(spaces, digits, spaces)), (numbers) => {
      const sent = `[${numbers.map((parts) => parts.join('')).join(',')}]`
      const printed = `[${numbers.map(([, number]) => number).join(',')}]`
      assert.equal(JSON.stringify(parseTrusted(printed)), printed)
      assert.equal(JSON.stringify(parseJson(sent, 9)), printed)
    }),
  )
})

test('sameJson: digits matter, the order of keys does not', () => {
  assert.ok(sameJson(parseTrusted('{"a":1,"b":[1.10,null]}'), parseTrusted('{"b":[1.10,null],"a":1}')))
  assert.ok(!sameJson(parseTrusted('1.1'), parseTrusted('1.10')))
  assert.ok(!sameJson(parseTrusted('[1]'), parseTrusted('[1,1]')))
  assert.ok(!sameJson({ a: 1 }, { b: 1 }))
  assert.ok(!sameJson({}, { toString: null }))
  assert.ok(!sameJson({ toString: null }, {}))
  assert.ok(!sameJson([], {}))
})

test('pointer: escapes as RFC 6901 requires', () => {
  assert.equal(pointer('/a', 'b/c~d'), '/a/b~1c~0d')
  assert.equal(pointer('', 0), '/0')
})

test('parseByHand: accepts the same texts as JSON.parse, with the same result', () => {
  const valid = fc.json({ maxDepth: 4 })
  const noise = fc.constantFrom(
    '',
    ' ',
    ',',
    '"',
    '\\',
    '}',
    ']',
    '{',
    '[',
    ':',
    '0',
    '-',
    '.',
    'e',
    'null',
    '\n',
  )
  const damaged = fc.tuple(valid, fc.nat(), fc.nat({ max: 2 }), noise).map(([text, at, length, other]) => {
    const start = at % (text.length + 1)
    return text.slice(0, start) + other + text.slice(start + length)
  })
  fc.assert(
    fc.property(fc.oneof(valid, damaged), (text) => {
      fc.pre(!hasEscapedKey(text))
      const [ours, theirs] = [parseByHand, (each: string): unknown => JSON.parse(each)].map((parse) => {
        try {
          return JSON.stringify(JSON.parse(JSON.stringify(parse(text))))
        } catch (error) {
          assert.ok(error instanceof SyntaxError)
          return 'invalid'
        }
      })
      assert.equal(ours, theirs)
    }),
    { numRuns: 3_000 },
  )
})

const WRONG_NUMBERS = [
  '01',
  '1.',
  '.5',
  '-',
  '-.5',
  '00',
  '1e',
  '1e+',
  '+1',
  '0x1',
  '1.5.2',
  '01.5',
  '--1',
  '1-2',
]

test('parseByHand: refuses malformed numbers', () => {
  for (const text of WRONG_NUMBERS) {
    for (const body of [text, `[${text}]`, `{"a\\n":${text}}`, `[1.10,${text}]`]) {
      assert.throws(() => parseJson(body, 9), { code: 'crud:InvalidRequest' }, body)
    }
  }
})

test('parseJson: names the position of a duplicate key beside a long text', () => {
  const text = 'x\\n'.repeat(3_000_000)
  assert.throws(() => parseJson(`{"a":["${text}",{"b":1,"b":2}]}`, 9), /\(at \/a\/1\/b\)$/)
  assert.throws(() => parseJson(`{"a\\n":"${text}","b":1.10,"b":2}`, 9), /\(at \/b\)$/)
})

// JSON.parse would misread the second key after the first (nodejs/node#63785), so both parsers read such keys by hand.
test('parseJson: keys with escapes are parsed correctly after any other keys', () => {
  for (const parse of [parseTrusted, (text: string) => parseJson(text, 9)]) {
    parse('{"h":1,"\\\\":0}')
    assert.deepEqual(Object.keys(parse('{"h":1,"\\n":2}') as object), ['h', '\n'])
    assert.deepEqual(Object.keys(parse('{"h":1,"\\u00e9t\\u00e9":1.10}') as object), ['h', 'été'])
  }
})
