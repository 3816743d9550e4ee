/** Every sentence about aggregates, as requests and the exact text of their results. */
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { StoreKind } from '../../../src/store/store.ts'

export const FIELDS: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  city: { type: 'string' },
  open: { type: 'boolean' },
  i: { type: 'integer' },
  d: { type: 'double' },
  bi: { type: 'biginteger' },
  bd: { type: 'bigdecimal' },
  date: { type: 'date' },
  bin: { type: 'binary' },
  any: { type: 'any' },
  address: { type: 'object', fields: { zip: { type: 'integer' } } },
  tags: { type: 'array', items: { type: 'string' } },
  amounts: { type: 'array', items: { type: 'bigdecimal' } },
  lines: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        sku: { type: 'string' },
        qty: { type: 'integer' },
        parts: { type: 'array', items: { type: 'object', fields: { no: { type: 'integer' } } } },
      },
    },
  },
}

export const DOCUMENTS: readonly string[] = [
  `{"city":"Bern","open":true,"i":3,"d":0.1,"bi":9007199254740993,"bd":1.50,"date":"2024-01-15T10:30:15.250Z","address":{"zip":3000},
    "tags":["a","b"],"amounts":[1.10,2.2],"lines":[{"sku":"x","qty":2,"parts":[{"no":1},{"no":2}]},{"sku":"y","qty":5,"parts":[]}]}`,
  `{"city":"Bern","open":false,"i":4,"d":0.2,"bi":1,"bd":2.5,"date":"2024-01-31T23:30:00.000Z","address":{"zip":3001},
    "tags":["b"],"amounts":[],"lines":[{"sku":"x","qty":1}]}`,
  `{"city":"Basel","open":true,"i":-9223372036854775808,"d":0.3,"bd":0.001,"date":"2024-03-31T00:30:00.000Z","lines":[null,{"qty":7}]}`,
  `{"city":"Basel","i":-1,"bi":123456789012345678901234567890,"bd":1E+3,"date":"2023-12-31T23:00:00.000Z","tags":[]}`,
  `{"city":null,"i":9223372036854775807,"d":1e308,"bd":1.5}`,
  `{"d":1e308,"date":"2024-02-29T12:00:00.000Z","open":null}`,
]

export interface AggregateCase {
  readonly name: string
  readonly request: string
  readonly processed: readonly string[]
  /** The number of groups; by default those of `processed`. */
  readonly matchCount?: number
  /** The stores on which the service itself evaluates a part. */
  readonly residualOn?: readonly StoreKind[]
}

export const CASES: readonly AggregateCase[] = [
  {
    name: 'one object per group, keys in the order of the request, ordered by key, and null first',
    request: `{"groupBy":["city"],"values":{"n":{"$count":true},"first":{"$min":"i"}}}`,
    processed: [
      `{"city":null,"n":2,"first":9223372036854775807}`,
      `{"city":"Basel","n":2,"first":-9223372036854775808}`,
      `{"city":"Bern","n":2,"first":3}`,
    ],
  },
  {
    name: 'no groupBy gives one row',
    request: `{"values":{"n":{"$count":true}}}`,
    processed: [`{"n":6}`],
  },
  {
    name: '1 stands for true in $count, as in every boolean of a request',
    request: `{"values":{"n":{"$count":1}}}`,
    processed: [`{"n":6}`],
  },
  {
    name: 'no groupBy gives one row, also when nothing matches',
    request: `{"query":{"field":"city","op":"=","rvalue":"Chur"},"values":{"n":{"$count":true},"s":{"$sum":"i"},"a":{"$avg":"i"},"m":{"$max":"i"},"d":{"$distinct":"i"}}}`,
    processed: [`{"n":0,"s":null,"a":null,"m":null,"d":0}`],
  },
  {
    name: 'groupBy without matches gives no group',
    request: `{"query":{"field":"city","op":"=","rvalue":"Chur"},"groupBy":["city"],"values":{"n":{"$count":true}}}`,
    processed: [],
  },
  {
    name: 'no values gives the distinct combinations',
    request: `{"groupBy":["open","city"]}`,
    processed: [
      `{"open":null,"city":null}`,
      `{"open":null,"city":"Basel"}`,
      `{"open":false,"city":"Bern"}`,
      `{"open":true,"city":"Basel"}`,
      `{"open":true,"city":"Bern"}`,
    ],
  },
  {
    name: 'a sum of 64-bit integers is exact beyond 64 bits',
    request: `{"query":{"field":"i","op":"<","rvalue":0},"values":{"s":{"$sum":"i"},"a":{"$avg":"i"}}}`,
    processed: [`{"s":-9223372036854775809,"a":-4611686018427387904.5}`],
  },
  {
    name: 'sums of bigintegers and bigdecimals are exact; a decimal keeps the largest scale',
    request: `{"groupBy":["city"],"values":{"bi":{"$sum":"bi"},"bd":{"$sum":"bd"}}}`,
    processed: [
      `{"city":null,"bi":null,"bd":1.5}`,
      `{"city":"Basel","bi":123456789012345678901234567890,"bd":1000.001}`,
      `{"city":"Bern","bi":9007199254740994,"bd":4.00}`,
    ],
  },
  {
    name: 'an average of exact numbers is rounded half to even to 20 significant digits',
    request: `{"values":{"bi":{"$avg":"bi"},"bd":{"$avg":"bd"}}}`,
    processed: [`{"bi":41152263004118228700000000000,"bd":201.1002}`],
  },
  {
    name: 'smallest and largest decimals have the largest scale, like sums',
    request: `{"values":{"min":{"$min":"bd"},"max":{"$max":"bd"},"big":{"$max":"bi"},"small":{"$min":"bi"}}}`,
    processed: [`{"min":0.001,"max":1000.000,"big":123456789012345678901234567890,"small":1}`],
  },
  {
    name: 'equal decimals of different scales are one group, with the largest scale',
    request: `{"groupBy":["bd"],"values":{"n":{"$count":true}}}`,
    processed: [
      `{"bd":null,"n":1}`,
      `{"bd":0.001,"n":1}`,
      `{"bd":1.50,"n":2}`,
      `{"bd":2.5,"n":1}`,
      `{"bd":1000,"n":1}`,
    ],
  },
  {
    name: 'doubles are IEEE numbers, whose sum is rounded once',
    request: `{"query":{"field":"d","op":"<","rvalue":1},"values":{"s":{"$sum":"d"},"a":{"$avg":"d"},"min":{"$min":"d"},"max":{"$max":"d"}}}`,
    processed: [`{"s":0.6,"a":0.19999999999999998,"min":0.1,"max":0.3}`],
  },
  {
    name: 'groups of doubles, and of bigintegers',
    request: `{"groupBy":["d","bi"],"range":[0,2]}`,
    processed: [
      `{"d":null,"bi":123456789012345678901234567890}`,
      `{"d":0.1,"bi":9007199254740993}`,
      `{"d":0.2,"bi":1}`,
    ],
    matchCount: 5,
  },
  {
    name: '$distinct counts different values, not null',
    request: `{"values":{"cities":{"$distinct":"city"},"bd":{"$distinct":"bd"},"open":{"$distinct":"open"},"d":{"$distinct":"d"}}}`,
    processed: [`{"cities":2,"bd":4,"open":2,"d":4}`],
  },
  {
    name: '$min and $max of texts, dates and booleans',
    request: `{"values":{"a":{"$min":"city"},"b":{"$max":"city"},"c":{"$min":"date"},"d":{"$max":"date"},"e":{"$min":"open"},"f":{"$max":"open"}}}`,
    processed: [
      `{"a":"Basel","b":"Bern","c":"20231231T23:00:00.000+0000","d":"20240331T00:30:00.000+0000","e":false,"f":true}`,
    ],
  },
  ...(
    [
      ['year', ['null', '20230101T00', '20240101T00'], [1, 1, 4]],
      ['month', ['null', '20231201T00', '20240101T00', '20240201T00', '20240301T00'], [1, 1, 2, 1, 1]],
      [
        'week',
        ['null', '20231225T00', '20240115T00', '20240129T00', '20240226T00', '20240325T00'],
        [1, 1, 1, 1, 1, 1],
      ],
      [
        'day',
        ['null', '20231231T00', '20240115T00', '20240131T00', '20240229T00', '20240331T00'],
        [1, 1, 1, 1, 1, 1],
      ],
      [
        'hour',
        ['null', '20231231T23', '20240115T10', '20240131T23', '20240229T12', '20240331T00'],
        [1, 1, 1, 1, 1, 1],
      ],
    ] as const
  ).map(([period, starts, counts]) => ({
    name: `truncate: ${period}, in UTC`,
    request: `{"groupBy":[{"field":"date","truncate":"${period}","as":"from"}],"values":{"n":{"$count":true}}}`,
    processed: starts.map(
      (start, i) => `{"from":${start === 'null' ? 'null' : `"${start}:00:00.000+0000"`},"n":${counts[i]}}`,
    ),
  })),
  {
    name: 'truncate: minute, without a name of its own',
    request: `{"query":{"field":"i","op":"=","rvalue":3},"groupBy":[{"field":"date","truncate":"minute"}]}`,
    processed: [`{"date":"20240115T10:30:00.000+0000"}`],
  },
  {
    name: 'a time zone decides when a period begins; the value is that instant',
    request: `{"query":{"field":"date","op":"!=","rvalue":null},"groupBy":[{"field":"date","truncate":"month","timeZone":"Europe/Zurich","as":"m"}],"values":{"n":{"$count":true}}}`,
    processed: [
      `{"m":"20231231T23:00:00.000+0000","n":2}`,
      `{"m":"20240131T23:00:00.000+0000","n":2}`,
      `{"m":"20240229T23:00:00.000+0000","n":1}`,
    ],
  },
  {
    name: 'weeks begin on Monday of the time zone, on both sides of a change of the clock',
    request: `{"query":{"field":"i","op":"<","rvalue":0},"groupBy":[{"field":"date","truncate":"week","timeZone":"Europe/Zurich","as":"w"}],"values":{"n":{"$count":true}}}`,
    processed: [`{"w":"20231231T23:00:00.000+0000","n":1}`, `{"w":"20240324T23:00:00.000+0000","n":1}`],
  },
  {
    name: 'days of a time zone are conditions and an order like other dates',
    request: `{"groupBy":[{"field":"date","truncate":"day","timeZone":"America/New_York","as":"day"}],"values":{"n":{"$count":true},"i":{"$sum":"i"}},"having":{"field":"day","op":"<=","rvalue":"2024-03-30T04:00:00.000Z"},"sort":{"day":"$desc"},"range":[0,2]}`,
    processed: [
      `{"day":"20240330T04:00:00.000+0000","n":1,"i":-9223372036854775808}`,
      `{"day":"20240229T05:00:00.000+0000","n":1,"i":null}`,
      `{"day":"20240131T05:00:00.000+0000","n":1,"i":4}`,
    ],
    matchCount: 5,
  },
  {
    name: 'periods of several time zones in one request',
    request: `{"query":{"field":"city","op":"=","rvalue":"Bern"},"groupBy":[{"field":"date","truncate":"hour","timeZone":"Asia/Kathmandu","as":"hour"},{"field":"date","truncate":"year","timeZone":"Europe/Zurich","as":"year"},{"field":"date","truncate":"week","as":"week"},{"field":"date","truncate":"day","timeZone":"Asia/Kathmandu","as":"day"}]}`,
    processed: [
      `{"hour":"20240115T10:15:00.000+0000","year":"20231231T23:00:00.000+0000","week":"20240115T00:00:00.000+0000","day":"20240114T18:15:00.000+0000"}`,
      `{"hour":"20240131T23:15:00.000+0000","year":"20231231T23:00:00.000+0000","week":"20240129T00:00:00.000+0000","day":"20240131T18:15:00.000+0000"}`,
    ],
  },
  {
    name: 'UTC can be named',
    request: `{"query":{"field":"i","op":"=","rvalue":3},"groupBy":[{"field":"date","truncate":"day","timeZone":"UTC","as":"day"}]}`,
    processed: [`{"day":"20240115T00:00:00.000+0000"}`],
  },
  {
    name: 'having and sort speak of names of the result',
    request: `{"groupBy":["city"],"values":{"total":{"$sum":"bd"},"n":{"$count":true}},"having":{"field":"total","op":">","rvalue":2},"sort":{"total":"$desc"}}`,
    processed: [`{"city":"Basel","total":1000.001,"n":2}`, `{"city":"Bern","total":4.00,"n":2}`],
  },
  {
    name: 'having compares counts, null, texts, lists and patterns',
    request: `{"groupBy":["city"],"values":{"n":{"$count":true},"bi":{"$sum":"bi"}},"having":{"$and":[{"field":"n","op":"$in","values":[2,7]},{"field":"city","regex":"^B"},{"field":"bi","op":"!=","rvalue":null}]},"sort":[{"n":"$asc"},{"city":"$desc"}]}`,
    processed: [
      `{"city":"Bern","n":2,"bi":9007199254740994}`,
      `{"city":"Basel","n":2,"bi":123456789012345678901234567890}`,
    ],
  },
  {
    name: 'having compares two members of the result',
    request: `{"groupBy":["city"],"values":{"n":{"$count":true},"k":{"$distinct":"bd"},"s":{"$sum":"i"}},"having":{"field":"n","op":"=","rfield":"k"},"sort":{"s":"$desc"}}`,
    processed: [`{"city":"Bern","n":2,"k":2,"s":7}`, `{"city":"Basel","n":2,"k":2,"s":-9223372036854775809}`],
  },
  {
    name: 'having with a pattern that only RE2 understands in this way',
    request: `{"groupBy":["city"],"having":{"field":"city","regex":"\\\\bB\\\\w+n\\\\b"}}`,
    processed: [`{"city":"Bern"}`],
    residualOn: ['postgres'],
  },
  {
    name: 'having may leave out the only row',
    request: `{"values":{"n":{"$count":true}},"having":{"field":"n","op":">","rvalue":100}}`,
    processed: [],
  },
  {
    name: 'having on doubles and booleans',
    request: `{"groupBy":["open"],"values":{"d":{"$sum":"d"}},"having":{"$or":[{"field":"open","op":"=","rvalue":true},{"field":"d","op":"<=","rvalue":0.2}]}}`,
    processed: [`{"open":false,"d":0.2}`, `{"open":true,"d":0.4}`],
  },
  {
    name: 'names with dots are names, not paths',
    request: `{"groupBy":["address.zip"],"having":{"field":"address.zip","op":">","rvalue":3000},"sort":{"address.zip":"$asc"}}`,
    processed: [`{"address.zip":3001}`],
  },
  {
    name: 'sort is descending with null last, and ties are in the order of the keys',
    request: `{"groupBy":["city","open"],"values":{"n":{"$count":true}},"sort":{"city":"$desc"}}`,
    processed: [
      `{"city":"Bern","open":false,"n":1}`,
      `{"city":"Bern","open":true,"n":1}`,
      `{"city":"Basel","open":null,"n":1}`,
      `{"city":"Basel","open":true,"n":1}`,
      `{"city":null,"open":null,"n":2}`,
    ],
  },
  {
    name: 'range selects groups, and matchCount counts all of them',
    request: `{"groupBy":["city"],"range":[1,1]}`,
    processed: [`{"city":"Basel"}`],
    matchCount: 3,
  },
  {
    name: 'a range beyond the end is empty',
    request: `{"groupBy":["city"],"range":[7,9]}`,
    processed: [],
    matchCount: 3,
  },
  {
    name: 'each element of a starred path is a row',
    request: `{"groupBy":["lines.*.sku"],"values":{"n":{"$count":true},"q":{"$sum":"lines.*.qty"}}}`,
    processed: [
      `{"lines.*.sku":null,"n":2,"q":7}`,
      `{"lines.*.sku":"x","n":2,"q":3}`,
      `{"lines.*.sku":"y","n":1,"q":5}`,
    ],
  },
  {
    name: 'fields outside of the array belong to each of its elements',
    request: `{"groupBy":["city"],"values":{"n":{"$count":true},"q":{"$max":"lines.*.qty"},"i":{"$sum":"i"}}}`,
    processed: [
      `{"city":"Basel","n":2,"q":7,"i":-18446744073709551616}`,
      `{"city":"Bern","n":3,"q":5,"i":10}`,
    ],
  },
  {
    name: 'starred paths lie on one chain of arrays',
    request: `{"groupBy":["lines.*.sku"],"values":{"parts":{"$count":true},"no":{"$max":"lines.*.parts.*.no"}}}`,
    processed: [`{"lines.*.sku":"x","parts":2,"no":2}`],
  },
  {
    name: 'elements of arrays of simple values',
    request: `{"groupBy":["tags.*"],"values":{"n":{"$count":true}}}`,
    processed: [`{"tags.*":"a","n":1}`, `{"tags.*":"b","n":2}`],
  },
  {
    name: 'decimals in arrays',
    request: `{"values":{"s":{"$sum":"amounts.*"},"m":{"$min":"amounts.*"},"k":{"$distinct":"amounts.*"}}}`,
    processed: [`{"s":3.30,"m":1.10,"k":2}`],
  },
  {
    name: 'sizes of arrays are numbers like others, and an index names one element',
    request: `{"values":{"tags":{"$sum":"tags#"},"first":{"$max":"lines.0.qty"}}}`,
    processed: [`{"tags":3,"first":2}`],
  },
]

export interface Refusal {
  readonly name: string
  readonly request: string
  readonly code: string
  /** A part of the message. */
  readonly says: string
}

export const REFUSALS: readonly Refusal[] = [
  ['an empty request', `{}`, 'InvalidAggregation', 'groupBy'],
  ['empty lists', `{"groupBy":[],"values":{}}`, 'InvalidAggregation', 'groupBy'],
  ['groupBy that is no list', `{"groupBy":"city"}`, 'InvalidAggregation', '["city"]'],
  ['a key that is no path', `{"groupBy":[1]}`, 'InvalidAggregation', 'truncate'],
  [
    'an unknown member of a key',
    `{"groupBy":[{"field":"city","trunc":"day"}]}`,
    'InvalidAggregation',
    'truncate',
  ],
  ['an unknown period', `{"groupBy":[{"field":"date","truncate":"quarter"}]}`, 'InvalidAggregation', 'month'],
  [
    'an unknown time zone',
    `{"groupBy":[{"field":"date","truncate":"day","timeZone":"Mars/Base"}]}`,
    'InvalidAggregation',
    'Europe/Zurich',
  ],
  [
    'an offset as time zone',
    `{"groupBy":[{"field":"date","truncate":"day","timeZone":"+01:00"}]}`,
    'InvalidAggregation',
    'IANA',
  ],
  [
    'a time zone without truncate',
    `{"groupBy":[{"field":"date","timeZone":"UTC"}]}`,
    'InvalidAggregation',
    'truncate',
  ],
  ['a truncated text', `{"groupBy":[{"field":"city","truncate":"day"}]}`, 'InvalidAggregation', 'date'],
  ['a name that is empty', `{"groupBy":[{"field":"city","as":""}]}`, 'InvalidAggregation', '"as"'],
  [
    'two members of one name',
    `{"groupBy":["city"],"values":{"city":{"$count":true}}}`,
    'InvalidAggregation',
    '"as"',
  ],
  [
    'a value named by a number',
    `{"values":{"b":{"$count":true},"2":{"$sum":"i"}}}`,
    'InvalidAggregation',
    '"n2"',
  ],
  ['a value named by an index', `{"values":{"-1":{"$count":true}}}`, 'InvalidAggregation', '"n1"'],
  [
    'a key named by a number',
    `{"groupBy":["date",{"field":"city","as":"07"}]}`,
    'InvalidAggregation',
    '"n07"',
  ],
  ['an object', `{"groupBy":["address"]}`, 'InvalidAggregation', 'comparable'],
  ['a whole array', `{"groupBy":["tags"]}`, 'InvalidAggregation', 'tags.*'],
  ['binary', `{"groupBy":["bin"]}`, 'InvalidAggregation', 'binary'],
  ['any', `{"values":{"k":{"$distinct":"any"}}}`, 'InvalidAggregation', 'any'],
  ['a sum of texts', `{"values":{"s":{"$sum":"city"}}}`, 'InvalidAggregation', 'number'],
  ['an average of dates', `{"values":{"s":{"$avg":"date"}}}`, 'InvalidAggregation', 'number'],
  ['an unknown operation', `{"values":{"s":{"$summ":"i"}}}`, 'InvalidAggregation', '$sum'],
  ['two operations', `{"values":{"s":{"$sum":"i","$avg":"i"}}}`, 'InvalidAggregation', '$count'],
  ['a count of something else', `{"values":{"s":{"$count":"i"}}}`, 'InvalidAggregation', '$distinct'],
  ['a path that is no text', `{"values":{"s":{"$sum":1}}}`, 'InvalidAggregation', 'path'],
  ['values that are no object', `{"values":["i"]}`, 'InvalidAggregation', '$sum'],
  [
    'different arrays',
    `{"groupBy":["tags.*"],"values":{"q":{"$sum":"lines.*.qty"}}}`,
    'InvalidAggregation',
    'chain',
  ],
  [
    'having on a name that the result lacks',
    `{"groupBy":["city"],"having":{"field":"i","op":"=","rvalue":1}}`,
    'InvalidAggregation',
    '"city"',
  ],
  [
    'sort by a name that the result lacks',
    `{"groupBy":["city"],"sort":{"i":"$asc"}}`,
    'InvalidAggregation',
    '"city"',
  ],
  [
    'having with a value of another type',
    `{"values":{"n":{"$count":true}},"having":{"field":"n","op":"=","rvalue":"many"}}`,
    'IncompatibleValue',
    'integer',
  ],
  ['an unknown field', `{"groupBy":["town"]}`, 'InvalidFieldReference', 'town'],
  ['a projection', `{"groupBy":["city"],"projection":{"field":"city"}}`, 'InvalidRequest', 'projection'],
  [
    'a key of another operation',
    `{"groupBy":["city"],"update":{"$set":{"city":"x"}}}`,
    'InvalidRequest',
    'update',
  ],
  ['too many keys', `{"groupBy":[${'"city",'.repeat(40)}"city"]}`, 'LimitExceeded', '32'],
  ['a sum beyond the range of a double', `{"values":{"s":{"$sum":"d"}}}`, 'InvalidAggregation', 'double'],
].map(([name, request, code, says]) => ({ name: name!, request: request!, code: code!, says: says! }))
