/** Filters as text: each construct beside its JSON form, and what is said about a text that is no filter. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/base/errors.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { startBudget } from '../../../src/lang/budget.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { printQuery } from '../../../src/lang/query.ts'
import { parseFilter } from '../../../src/lang/text/parse-filter.ts'
import { printFilter } from '../../../src/lang/text/print-filter.ts'
import { json } from '../../support/service.ts'

const parsed = (text: string, limits = DEFAULT_LIMITS) => parseFilter(text, startBudget(limits))
const fromJson = (text: string) => parseQuery(json(text), '', DEFAULT_LIMITS)

/** Filter, JSON form, and the filter as it is printed where that differs. */
const SAME: readonly (readonly [filter: string, json: string, printed?: string])[] = [
  ['city = "Bern"', '{"field":"city","op":"=","rvalue":"Bern"}'],
  ['a != 1', '{"field":"a","op":"!=","rvalue":1}'],
  ['a<1', '{"field":"a","op":"<","rvalue":1}', 'a < 1'],
  ['a <= 1', '{"field":"a","op":"<=","rvalue":1}'],
  ['a > 1', '{"field":"a","op":">","rvalue":1}'],
  ['a >= 1', '{"field":"a","op":">=","rvalue":1}'],
  ['a = 1.10', '{"field":"a","op":"=","rvalue":1.10}'],
  ['a = -12345678901234567890', '{"field":"a","op":"=","rvalue":-12345678901234567890}'],
  ['a = 1e5', '{"field":"a","op":"=","rvalue":1e5}'],
  ['a = true', '{"field":"a","op":"=","rvalue":true}'],
  ['a != null', '{"field":"a","op":"!=","rvalue":null}'],
  ['a = now ( )', '{"field":"a","op":"=","rvalue":{"$now":true}}', 'a = now()'],
  ['a = "\\"\\u00e4\\n\\\\"', '{"field":"a","op":"=","rvalue":"\\"ä\\n\\\\"}', 'a = "\\"ä\\n\\\\"'],
  ['price < $listPrice', '{"field":"price","op":"<","rfield":"listPrice"}'],
  ['price < $ listPrice', '{"field":"price","op":"<","rfield":"listPrice"}', 'price < $listPrice'],
  [
    'any lines (qty > $$parent.count)',
    '{"array":"lines","elemMatch":{"field":"qty","op":">","rfield":"$parent.count"}}',
  ],
  ['any tags ($this = "a")', '{"array":"tags","elemMatch":{"field":"$this","op":"=","rvalue":"a"}}'],
  ['a in (1, "b", null)', '{"field":"a","op":"$in","values":[1,"b",null]}'],
  ['a not in (1)', '{"field":"a","op":"$nin","values":[1]}'],
  ['a in ()', '{"field":"a","op":"$in","values":[]}'],
  ['a in $tags', '{"field":"a","op":"$in","rfield":"tags"}'],
  ['a not in $o.tags', '{"field":"a","op":"$nin","rfield":"o.tags"}'],
  ['a ~ /^B/', '{"field":"a","regex":"^B"}'],
  ['a ~ /b.n/is', '{"field":"a","regex":"b.n","options":"is"}'],
  [
    'a ~ /b # c\n d/imx',
    '{"field":"a","regex":"b # c\\n d","caseInsensitive":true,"multiline":true,"extended":true}',
  ],
  ['a not ~ /x/', '{"$not":{"field":"a","regex":"x"}}', 'not a ~ /x/'],
  ['a ~ /x\\/y\\\\\\/[\\/]\\d/', '{"field":"a","regex":"x/y\\\\\\\\/[/]\\\\d"}'],
  ['a ~ //', '{"field":"a","regex":""}'],
  ['tags contains any ("a", "b")', '{"array":"tags","contains":"$any","values":["a","b"]}'],
  ['tags contains all ()', '{"array":"tags","contains":"$all","values":[]}'],
  ['o.*.tags contains none (1)', '{"array":"o.*.tags","contains":"$none","values":[1]}'],
  ['text("blue -red")', '{"text":"blue -red"}'],
  [
    'text ( "a \\"b c\\"" , words ) or not text("d*", "by title")',
    '{"$or":[{"text":"a \\"b c\\"","index":"words"},{"$not":{"text":"d*","index":"by title"}}]}',
    'text("a \\"b c\\"", words) or not text("d*", `by title`)',
  ],
  ...(
    [
      'my index',
      'text',
      'and',
      'null',
      'a`b',
      '``',
      '`',
      'a.b',
      '*',
      '7',
      '$this',
      'a-b',
      '"',
      ',)',
      ' ',
      '\\',
      'a\nb',
      '?',
    ] as const
  ).map((index): readonly [string, string] => [
    `text("blue", \`${index.replaceAll('`', '``')}\`)`,
    JSON.stringify({ text: 'blue', index }),
  ]),
  ['text("blue", größe_2#)', '{"text":"blue","index":"größe_2#"}'],
  ['text("blue", "and")', '{"text":"blue","index":"and"}', 'text("blue", `and`)'],
  ['text("blue", and)', '{"text":"blue","index":"and"}', 'text("blue", `and`)'],
  ['true', '{"$and":[]}'],
  ['false', '{"$or":[]}'],
  ['not true', '{"$not":{"$and":[]}}'],
  [
    'a = 1 and b = 2 and c = 3',
    '{"$and":[{"field":"a","op":"=","rvalue":1},{"field":"b","op":"=","rvalue":2},{"field":"c","op":"=","rvalue":3}]}',
  ],
  [
    'a = 1 or b = 2 and not c = 3',
    '{"$or":[{"field":"a","op":"=","rvalue":1},{"$and":[{"field":"b","op":"=","rvalue":2},{"$not":{"field":"c","op":"=","rvalue":3}}]}]}',
  ],
  [
    '(a = 1 or b = 2) and not (c = 3 or true)',
    '{"$and":[{"$or":[{"field":"a","op":"=","rvalue":1},{"field":"b","op":"=","rvalue":2}]},{"$not":{"$or":[{"field":"c","op":"=","rvalue":3},{"$and":[]}]}}]}',
  ],
  ['((a = 1))', '{"field":"a","op":"=","rvalue":1}', 'a = 1'],
  [
    '(a = 1 and b = 2) and c = 3',
    '{"$and":[{"$and":[{"field":"a","op":"=","rvalue":1},{"field":"b","op":"=","rvalue":2}]},{"field":"c","op":"=","rvalue":3}]}',
  ],
  ['lines.*.qty = 1', '{"field":"lines.*.qty","op":"=","rvalue":1}'],
  ['lines.-1.qty = 1', '{"field":"lines.-1.qty","op":"=","rvalue":1}'],
  ['lines# > 3', '{"field":"lines#","op":">","rvalue":3}'],
  [
    'any lines\n  . 0\n  . parts (qty . `in` < $$parent . o .* . -1)',
    '{"array":"lines.0.parts","elemMatch":{"field":"qty.in","op":"<","rfield":"$parent.o.*.-1"}}',
    'any lines.0.parts (qty.`in` < $$parent.o.*.-1)',
  ],
  ['größe_2 = 1', '{"field":"größe_2","op":"=","rvalue":1}'],
  ['`in`.`first name`.`a``b` = 1', '{"field":"in.first name.a`b","op":"=","rvalue":1}'],
  ['`first-name`=1', '{"field":"first-name","op":"=","rvalue":1}', '`first-name` = 1'],
  [
    'a =\n\t1\r\nand b\n= 2',
    '{"$and":[{"field":"a","op":"=","rvalue":1},{"field":"b","op":"=","rvalue":2}]}',
    'a = 1 and b = 2',
  ],
  [
    'android = 1 and order = 2',
    '{"$and":[{"field":"android","op":"=","rvalue":1},{"field":"order","op":"=","rvalue":2}]}',
  ],
]

for (const [filter, form, printed = filter] of SAME) {
  test(`filter: ${filter}`, () => {
    const query = parsed(filter)
    assert.deepEqual(printQuery(query), printQuery(fromJson(form)))
    assert.equal(printFilter(query), printed)
    assert.equal(printFilter(fromJson(form)), printed)
  })
}

test('filter: a $and or $or of one is printed as that one', () => {
  assert.equal(
    printFilter(fromJson('{"$not":{"$and":[{"$or":[{"field":"a","op":"=","rvalue":1}]}]}}')),
    'not a = 1',
  )
})

/** Filter, place, and a part of the message. */
const REFUSED: readonly (readonly [
  filter: string,
  line: number,
  column: number,
  message: string | RegExp,
])[] = [
  ['', 1, 1, 'expected a condition, such as city = "Bern", but found the end'],
  ['  ', 1, 3, 'found the end'],
  ['city', 1, 5, 'expected one of <=, >=, !=, =, <, >, in, not in, ~, not ~, contains, but found the end'],
  [
    'city = ',
    1,
    8,
    'expected a value, such as "Bern", 42, true, null or now(), or "$" and another field, but found the end',
  ],
  ['city = Bern', 1, 8, 'but found "Bern"'],
  ["city = 'Bern'", 1, 8, 'expected a text in double quotes'],
  ['city = "Bern', 1, 8, 'this text has no closing quote'],
  ['city = "\\x"', 1, 8, 'this is not a text in JSON'],
  ['city = "\\u0000"', 1, 8, 'this is not a text in JSON'],
  ['city = "\\ud800"', 1, 8, 'this is not a text in JSON'],
  ['a = 1 AND b = 2', 1, 7, 'expected "and", "or" or the end, but found "AND"; it is written and'],
  ['a = 1 b = 2', 1, 7, 'expected "and", "or" or the end, but found "b"'],
  ['a = 1 and', 1, 10, 'expected a condition'],
  ['a = 1)', 1, 6, 'expected "and", "or" or the end, but found ")"'],
  ['(a = 1', 1, 7, 'expected "and", "or" or ")", but found the end'],
  ['a == 1', 1, 4, 'equality is written ='],
  ['a = 01', 1, 6, 'expected "and", "or" or the end'],
  ['a = 1.', 1, 6, 'expected "and", "or" or the end'],
  ['first-name = 1', 1, 6, 'a name with "-" stands in backquotes'],
  ['in = 1', 1, 1, 'a field of that name stands in backquotes: `in`'],
  ['a.text = 1', 1, 3, 'a field of that name stands in backquotes: `text`'],
  ['a. = 1', 1, 4, 'expected a name, "*" or an index after "."'],
  ['a.$caller = 1', 1, 3, 'expected a name'],
  ['*.a = 1', 1, 1, 'expected a condition'],
  ['`a = 1', 1, 1, 'this name has no closing backquote'],
  ['`a.b` = 1', 1, 1, 'one step of a path'],
  ['`` = 1', 1, 1, /no closing backquote|one step/],
  ['a not = 1', 1, 7, 'expected "in" or "~"'],
  ['a in 1', 1, 6, 'expected "(" and values, or "$" and another field'],
  ['a in (1 2)', 1, 9, 'expected "," or ")"'],
  ['a in (1,)', 1, 9, 'expected a value'],
  ['a in ($b)', 1, 7, 'expected a value'],
  ['a contains ("x")', 1, 12, 'expected "any", "all" or "none"'],
  ['a contains any "x"', 1, 16, 'expected "(" and values'],
  ['any a', 1, 6, 'expected "(" and a filter for the elements'],
  ['any (a = 1)', 1, 5, 'expected an array'],
  ['a ~ "x"', 1, 5, 'expected a pattern'],
  ['a ~ /x', 1, 5, 'this pattern has no closing "/"'],
  ['a ~ /x/ig', 1, 8, 'expected flags of the pattern, which are i, m, x and s'],
  ['a ~ /(/', 1, 5, 'this is not a valid pattern in RE2 syntax'],
  ['a = now', 1, 8, 'expected "()" after "now"'],
  ['b = 1 and\n  a < null', 2, 7, 'nothing is less or greater than null'],
  ['b = 1 and\r\n\t"ä😀" = 1', 2, 2, 'expected a condition'],
  ['b = "ä😀" and c = ?', 1, 18, 'but found "?"'],
  ['text = "blue"', 1, 6, 'a field of the name text stands in backquotes'],
  ['text(blue)', 1, 6, 'expected a search, such as "blue -red"'],
  ['text("blue" "x")', 1, 13, 'expected "," or ")"'],
  ['text("blue", )', 1, 14, 'expected the name of an index, such as words, `by title` or "by title"'],
  ['text("blue", ``)', 1, 14, 'expected the name of an index'],
  ['text("blue", `x)', 1, 14, 'this name has no closing backquote'],
  ['text("blue", "x"', 1, 17, 'expected ")"'],
  ['a = 1 and text("-")', 1, 16, 'has no word to search for'],
]

for (const [filter, line, column, message] of REFUSED) {
  test(`filter: refused is ${JSON.stringify(filter)}`, () => {
    const error = errorOf(() => parsed(filter))
    assert.equal(error.code, 'query-api:InvalidQuery')
    assert.ok(error.message.endsWith(` (at line ${line}, column ${column})`), error.message)
    assert.match(error.message, typeof message === 'string' ? new RegExp(RegExp.escape(message)) : message)
  })
}

test('filter: the limits of queries hold', () => {
  const nested = (depth: number): string => `${'('.repeat(depth)}true${')'.repeat(depth)}`
  parsed(nested(DEFAULT_LIMITS.nesting))
  for (const text of [
    nested(DEFAULT_LIMITS.nesting + 1),
    '('.repeat(1_000_000),
    'not '.repeat(1_000_000),
    'any a ('.repeat(1_000_000),
    Array.from({ length: 1_001 }, () => 'true').join(' and '),
    `a in (${Array.from({ length: 10_001 }, () => '1').join()})`,
    `a ~ /${'x'.repeat(1_001)}/`,
  ])
    assert.equal(errorOf(() => parsed(text)).code, 'crud:LimitExceeded', text.slice(0, 20))
})

/** Each is one token, or one mistake, of several megabytes. */
test('filter: long texts are read in time that grows with their length', () => {
  const long = 1_000_000
  for (const text of [
    ' '.repeat(long),
    'a'.repeat(long),
    `\`${'a'.repeat(long)}`,
    `\`${'``'.repeat(long)}`,
    `a = "${'\\'.repeat(long)}`,
    `a = "${'x'.repeat(long)}" or`,
    `a = 1${'0'.repeat(long)} or`,
    `a ~ /${'\\/'.repeat(long)}`,
    'a.'.repeat(long),
    `a in (${'1,'.repeat(long / 4)}`,
    'true and '.repeat(long / 8),
    `${'any a (true) and '.repeat(990)} a = "${'x'.repeat(long)}" and b ~ 5`,
  ]) {
    const started = process.cpuUsage()
    errorOf(() => parsed(text))
    const { user, system } = process.cpuUsage(started)
    const ms = (user + system) / 1_000
    assert.ok(ms < 5_000, `${text.slice(0, 20)}: ${ms} ms`)
  }
})

test('filter: an object is no value that could be printed', () => {
  const query: Json = { field: 'a', op: '=', rvalue: { b: 1 } }
  assert.equal(
    errorOf(() => printFilter(parseQuery(query, '', DEFAULT_LIMITS))).code,
    'query-api:InvalidQuery',
  )
})

function errorOf(work: () => unknown): ServiceError {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error))
    return error
  }
  return assert.fail('nothing was refused')
}
