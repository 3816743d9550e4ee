/**
 * The language as components of the OpenAPI document. Only documentation: the parsers of `lang` check requests, and
 * report more precisely than a schema can. Each form of a query, projection or update has keys of its own, so that
 * generated types tell them apart and refuse misspelt keys.
 */
import { type Shape, Type } from '../../base/json/shape.ts'
import { FIELD_AGGREGATES } from '../../lang/aggregate.ts'
import { PERIODS } from '../../schema/periods/period.ts'
import { COMPARE_SPELLINGS, LIST_SPELLINGS } from '../../lang/parse/parse-query.ts'
import { component, count, flag, listed, refusing, text } from './shape-parts.ts'

const closed = (members: Readonly<Record<string, Shape>>, description: string, more: Shape = {}): Shape =>
  Type.Object(members, { additionalProperties: false, description, ...more })

const FIELD = text('A dotted path, such as `address.city`; `*` stands for every element of an array.')
const VALUE = Type.Unknown({ description: 'The value to compare with, of the type of the field.' })
const VALUES = Type.Array(Type.Unknown(), { description: 'Values of the type of the field.' })
const OTHER_FIELD = text('The field to compare with.')
const QUERIES = Type.Array(component('Query'))
const PATH_TO_VALUE = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'Path to value. `{"$valueof": "path"}` copies another field, `"$null"` writes null.',
  },
)

const QUERIES_BY_NAME: Readonly<Record<string, Shape>> = {
  ValueComparison: closed(
    { field: FIELD, op: Type.Enum(COMPARE_SPELLINGS), rvalue: VALUE },
    'Compares a field with a value.',
  ),
  FieldComparison: closed(
    { field: FIELD, op: Type.Enum(COMPARE_SPELLINGS), rfield: OTHER_FIELD },
    'Compares a field with another one.',
  ),
  ListComparison: closed(
    { field: FIELD, op: Type.Enum(LIST_SPELLINGS), values: VALUES },
    'Whether the value of a field is in a list.',
  ),
  FieldListComparison: closed(
    { field: FIELD, op: Type.Enum(LIST_SPELLINGS), rfield: text('An array, such as `tags.*`.') },
    'Whether the value of a field is among the elements of an array.',
  ),
  RegexMatch: closed(
    {
      field: FIELD,
      regex: text('A pattern in RE2 syntax that occurs anywhere in the text.'),
      options: Type.Optional(text('Letters `i`, `m`, `x` and `s`, one for each of the flags below.')),
      caseInsensitive: Type.Optional(flag('Upper and lower case are the same.')),
      multiline: Type.Optional(flag('`^` and `$` match at each line.')),
      extended: Type.Optional(flag('White space and comments in the pattern are ignored.')),
      dotall: Type.Optional(flag('`.` matches line breaks, too.')),
    },
    'Whether a text contains a match of a pattern.',
  ),
  ArrayContains: closed(
    { array: FIELD, contains: Type.Enum(['$any', '$all', '$none']), values: VALUES },
    'Whether an array contains any, all or none of the values.',
  ),
  ElementMatch: closed(
    { array: FIELD, elemMatch: component('Query') },
    'Whether one element, or one document that a reference joins, matches a query.',
  ),
  TextSearch: closed(
    {
      text: text('Words, `"phrases"`, `-excluded` and beginnings of words (`sta*`).'),
      index: Type.Optional(text('The name of an index of kind `text`; not needed if there is only one.')),
    },
    'Whether words occur in the fields of an index.',
  ),
  And: closed({ $and: QUERIES }, 'All of the queries hold; an empty list holds for every document.'),
  Or: closed({ $or: QUERIES }, 'One of the queries holds.'),
  Not: closed({ $not: component('Query') }, 'The query does not hold.'),
  All: closed({ $all: QUERIES }, 'The same as `$and`.', { deprecated: true }),
  Any: closed({ $any: QUERIES }, 'The same as `$or`.', { deprecated: true }),
}

const ELEMENTS = {
  field: FIELD,
  include: Type.Optional(flag('False leaves the elements out; true when absent.')),
  recursive: Type.Optional(flag('Accepted, without effect beside `match` and `range`.')),
  projection: Type.Optional(component('Projections')),
  project: Type.Optional(component('Projections')),
  sort: Type.Optional(component('Sort')),
}

const PROJECTIONS_BY_NAME: Readonly<Record<string, Shape>> = {
  FieldProjection: closed(
    {
      field: FIELD,
      include: Type.Optional(flag('False leaves the field out; true when absent.')),
      recursive: Type.Optional(flag('Includes everything below.')),
    },
    'A field; `*` stands for every field here.',
  ),
  MatchProjection: closed({ ...ELEMENTS, match: component('Query') }, 'The elements that match a query.'),
  RangeProjection: closed(
    {
      ...ELEMENTS,
      range: Type.Array(Type.Union([Type.Integer(), Type.Null()]), {
        minItems: 2,
        maxItems: 2,
        description: '`[from, to]`, zero-based, both included; null leaves that end open.',
      }),
    },
    'The elements in a range.',
  ),
}

const ACTION = Type.Union([Type.Literal('$remove'), component('Update'), Type.Array(component('Update'))])

const UPDATE = closed(
  {
    $set: Type.Optional(PATH_TO_VALUE),
    $unset: Type.Optional(listed(text('The path of a member that is removed.'))),
    $add: Type.Optional(PATH_TO_VALUE),
    $append: Type.Optional(PATH_TO_VALUE),
    $insert: Type.Optional(PATH_TO_VALUE),
    $foreach: Type.Optional(
      Type.Object(
        { $update: ACTION },
        {
          // generated types take the description of further members for that of `$update`, too
          additionalProperties: Type.Union([Type.Literal('$all'), component('Query'), ACTION]),
          description: 'The path of one array with `"$all"` or a query that selects elements, and `$update`.',
        },
      ),
    ),
  },
  'Operators are applied in the order of their keys.',
  { minProperties: 1 },
)

const refs = (shapes: Readonly<Record<string, Shape>>): readonly Shape[] => Object.keys(shapes).map(component)

const GROUP_KEY = Type.Union([
  FIELD,
  closed(
    {
      field: FIELD,
      truncate: Type.Optional(Type.Enum(PERIODS, { description: 'Groups dates by the period they are in.' })),
      timeZone: Type.Optional(text('A name of the IANA database, such as `Europe/Zurich`; UTC when absent.')),
      as: Type.Optional(text('Name in the result; the path when absent.')),
    },
    'A field, and how its values are grouped.',
  ),
])

const GROUP_VALUE = Type.Union([
  refusing(closed({ $count: { type: 'boolean', const: true } }, 'The number of rows.'), FIELD_AGGREGATES),
  ...FIELD_AGGREGATES.map((op) => {
    const others = ['$count', ...FIELD_AGGREGATES.filter((other) => other !== op)]
    return refusing(closed({ [op]: FIELD }, 'Computed of the values of a field.'), others)
  }),
])

export const LANGUAGE_SHAPES: Readonly<Record<string, Shape>> = {
  Query: Type.Union(refs(QUERIES_BY_NAME), { description: 'Which documents.' }),
  ...QUERIES_BY_NAME,
  Projection: Type.Union(refs(PROJECTIONS_BY_NAME)),
  Projections: Type.Union([component('Projection'), Type.Array(component('Projection'))], {
    description: 'What to return; of several, the last one that names a member decides about it.',
  }),
  ...PROJECTIONS_BY_NAME,
  SortKey: Type.Object(
    {},
    {
      additionalProperties: Type.Enum(['$asc', '$desc']),
      minProperties: 1,
      maxProperties: 1,
      description: 'The path of one field and the direction.',
    },
  ),
  Sort: Type.Union([component('SortKey'), Type.Array(component('SortKey'))]),
  Update: UPDATE,
  Updates: Type.Union([component('Update'), Type.Array(component('Update'))]),
  GroupKey: GROUP_KEY,
  GroupValue: GROUP_VALUE,
  Range: Type.Array(Type.Union([count('An index.'), Type.Null()]), {
    minItems: 2,
    maxItems: 2,
    description: '`[from, to]`, zero-based, both included; null leaves that end open.',
  }),
}
