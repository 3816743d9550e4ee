/** What projections let out of D1, or of a document of their own. */
export interface ProjectionCase {
  readonly rule: string
  readonly projection: string
  readonly result: string
  /** Default: D1. */
  readonly document?: string
}

const row = (rule: string, projection: string, result: string): ProjectionCase => ({
  rule,
  projection,
  result,
})

const OA_SIZES = '"oa#":3'
const SIZES = `"sa#":3,"ia#":3,"ia2#":0,"da#":0,${OA_SIZES}`
const OA = `[{"id":1,"n":"n1","k":10,"na":[{"p":"p1","q":1},{"p":"p2","q":2}],"na#":2,"si#":0},
  {"id":2,"n":"n2","k":20,"na":[],"na#":0,"si#":0},{"id":3,"n":"n3","na#":0,"si#":0}]`
const O = '{"x":"ox","y":5,"a":[1,2],"a#":2}'
const TOP = '"s":"abc","i":3'
const ARRAYS = '"sa":["one","two","three"],"ia":[3,1,2],"ia2":[]'

export const PROJECTION_CASES: readonly ProjectionCase[] = [
  row(
    '* gives the scalars at the top and empty arrays',
    '{"field":"*"}',
    `{"_id":"ID",${TOP},"ia2":[],${SIZES},"objectType":"t"}`,
  ),
  row(
    '* recursive gives everything',
    '{"field":"*","recursive":true}',
    `{"_id":"ID",${TOP},"o":${O},${ARRAYS},"oa":${OA},${SIZES},"objectType":"t"}`,
  ),
  row('an array projection of an unknown field gives nothing', '{"field":"zz","range":[0,1]}', '{}'),
  row(
    'an empty nested projection is the same as none',
    '{"field":"oa","range":[1,1],"projection":[]}',
    '{"oa":[{"id":2,"n":"n2","k":20,"na":[],"na#":0,"si#":0}]}',
  ),
  row('an object without deeper pattern vanishes', '{"field":"o"}', '{}'),
  row('a recursive pattern takes the whole object', '{"field":"o","recursive":true}', `{"o":${O}}`),
  row('o.* takes the scalars of o', '{"field":"o.*"}', '{"o":{"x":"ox","y":5,"a#":2}}'),
  row('an array without deeper pattern vanishes', '{"field":"sa"}', '{}'),
  row('an included empty array is returned', '{"field":"ia2"}', '{"ia2":[]}'),
  row('sa.* takes the elements', '{"field":"sa.*"}', '{"sa":["one","two","three"]}'),
  row('sa.1 takes one element', '{"field":"sa.1"}', '{"sa":["two"]}'),
  row('sa.-1 takes the last element', '{"field":"sa.-1"}', '{"sa":["three"]}'),
  row('oa.* alone takes nothing', '{"field":"oa.*"}', '{}'),
  row(
    'oa.*.* takes the scalars of elements and their empty arrays',
    '{"field":"oa.*.*"}',
    '{"oa":[{"id":1,"n":"n1","k":10,"na#":2,"si#":0},{"id":2,"n":"n2","k":20,"na":[],"na#":0,"si#":0},{"id":3,"n":"n3","na#":0,"si#":0}]}',
  ),
  row('the array level must be written', '{"field":"oa.n"}', '{}'),
  row(
    '*.x includes its ancestors, so the scalars at the top',
    '{"field":"*.x"}',
    `{"_id":"ID",${TOP},"o":{"x":"ox"},"ia2":[],${SIZES},"objectType":"t"}`,
  ),
  row('an exclusion alone includes nothing', '{"field":"s","include":false}', '{}'),
  row('an unknown field projects nothing', '{"field":"zz.y","recursive":true}', '{}'),
  row('nothing is added that was not asked for', '{"field":"i"}', '{"i":3}'),
  row(
    'excluding an object excludes all below',
    '[{"field":"*","recursive":true},{"field":"o","include":false},{"field":"oa","include":false},{"field":"*","include":false,"recursive":false},{"field":"sa","recursive":true}]',
    '{"sa":["one","two","three"]}',
  ),
  row(
    'the last opinion wins: include after exclude',
    '[{"field":"o","include":false},{"field":"o.x"}]',
    '{"o":{"x":"ox"}}',
  ),
  row(
    'the last opinion wins: exclude after include',
    '[{"field":"o.x"},{"field":"o","include":false}]',
    '{}',
  ),
  row(
    'the last opinion wins: recursive include after exclude',
    '[{"field":"o.x","include":false},{"field":"o","recursive":true}]',
    `{"o":${O}}`,
  ),
  row(
    'naming a member brings its excluded parent back',
    '[{"field":"o","recursive":true},{"field":"o","include":false},{"field":"o.x"}]',
    `{"o":${O}}`,
  ),
  row(
    'members of elements can be excluded',
    '[{"field":"oa","recursive":true},{"field":"oa.*.na","include":false},{"field":"oa.*.na#","include":false},{"field":"oa.*.si#","include":false},{"field":"oa.*.k","include":false}]',
    '{"oa":[{"id":1,"n":"n1"},{"id":2,"n":"n2"},{"id":3,"n":"n3"}]}',
  ),
  row('$this and $parent are navigation', '{"field":"o.$parent.s"}', '{"s":"abc"}'),
  row(
    'match selects elements',
    '{"field":"oa","match":{"field":"k","op":">","rvalue":5},"project":{"field":"n"}}',
    '{"oa":[{"n":"n1"},{"n":"n2"}]}',
  ),
  row(
    'match with include:false selects the others',
    '{"field":"oa","include":false,"match":{"field":"k","op":">","rvalue":5},"project":{"field":"id"}}',
    '{"oa":[{"id":3}]}',
  ),
  row('no element selected, no array', '{"field":"oa","match":{"field":"k","op":">","rvalue":500}}', '{}'),
  row(
    '!= in a match is the same as anywhere',
    '{"field":"oa","match":{"field":"k","op":"!=","rvalue":10},"project":{"field":"id"}}',
    '{"oa":[{"id":2},{"id":3}]}',
  ),
  row(
    'a range may be open',
    '{"field":"oa","range":[1,null],"project":{"field":"id"}}',
    '{"oa":[{"id":2},{"id":3}]}',
  ),
  row(
    'a range may start anywhere below 0',
    '{"field":"oa","range":[-2,0],"project":{"field":"id"}}',
    '{"oa":[{"id":1}]}',
  ),
  row(
    'a range that ends before it starts is empty',
    '{"field":"oa","range":[2,1],"project":{"field":"id"}}',
    '{}',
  ),
  row('a range that ends below 0 is empty', '{"field":"oa","range":[-2,-1],"project":{"field":"id"}}', '{}'),
  row(
    'a range with include:false selects what is outside',
    '{"field":"oa","include":false,"range":[1,1],"project":{"field":"id"}}',
    '{"oa":[{"id":1},{"id":3}]}',
  ),
  row(
    'match may search simple elements',
    '{"field":"sa","match":{"field":"$this","regex":"^t"}}',
    '{"sa":["two","three"]}',
  ),
  row(
    'match may stand on arrays in arrays',
    '{"field":"oa.*.na","match":{"field":"q","op":"=","rvalue":1}}',
    '{"oa":[{"na":[{"p":"p1","q":1}]}]}',
  ),
  row(
    'match may ask about the holder of the array',
    '{"field":"oa","match":{"field":"id","op":"=","rfield":"$parent.i"},"project":{"field":"id"}}',
    '{"oa":[{"id":3}]}',
  ),
  row(
    'an array projection replaces the elements, sizes stay',
    '[{"field":"oa","recursive":true},{"field":"oa#"},{"field":"oa","match":{"field":"k","op":">","rvalue":15},"projection":{"field":"id"}}]',
    '{"oa":[{"id":2}],"oa#":3}',
  ),
  row(
    'of two array projections the last decides',
    '[{"field":"oa","range":[0,0],"project":{"field":"id"}},{"field":"oa","range":[1,1],"project":{"field":"n"}}]',
    '{"oa":[{"n":"n2"}]}',
  ),
  row(
    'an exclusion after an array projection applies inside it',
    '[{"field":"oa","range":[0,1],"project":[{"field":"k"},{"field":"id"}]},{"field":"oa.*.k","include":false}]',
    '{"oa":[{"id":1},{"id":2}]}',
  ),
  row(
    'an exclusion of elements after an array projection wins',
    '[{"field":"oa","range":[0,1],"project":{"field":"id"}},{"field":"oa.0","include":false}]',
    '{"oa":[{"id":2}]}',
  ),
  row(
    'an exclusion before an array projection is overruled',
    '[{"field":"oa.*.k","include":false},{"field":"oa","range":[0,0],"project":{"field":"k"}}]',
    '{"oa":[{"k":10}]}',
  ),
  row(
    'sort orders the elements',
    '{"field":"oa","range":[0,9],"project":{"field":"id"},"sort":{"id":"$desc"}}',
    '{"oa":[{"id":3},{"id":2},{"id":1}]}',
  ),
  row(
    'sort works on fields that are not projected',
    '{"field":"oa","range":[0,9],"project":{"field":"n"},"sort":{"id":"$desc"}}',
    '{"oa":[{"n":"n3"},{"n":"n2"},{"n":"n1"}]}',
  ),
  row(
    'sort comes before range',
    '{"field":"oa","range":[0,0],"project":{"field":"id"},"sort":{"id":"$desc"}}',
    '{"oa":[{"id":3}]}',
  ),
  row(
    'sort puts missing first ascending',
    '{"field":"oa","range":[0,9],"project":{"field":"id"},"sort":{"k":"$asc"}}',
    '{"oa":[{"id":3},{"id":1},{"id":2}]}',
  ),
  row(
    'sort orders simple elements by $this',
    '{"field":"ia","range":[0,1],"sort":{"$this":"$asc"}}',
    '{"ia":[1,2]}',
  ),
  row(
    'index patterns mean stored positions, whatever the sort',
    '[{"field":"oa","range":[0,9],"project":{"field":"id"},"sort":{"id":"$desc"}},{"field":"oa.0","include":false}]',
    '{"oa":[{"id":3},{"id":2}]}',
  ),
  row(
    'array projections nest',
    '{"field":"oa","range":[0,0],"project":{"field":"na","match":{"field":"q","op":">","rvalue":1},"project":{"field":"p"}}}',
    '{"oa":[{"na":[{"p":"p2"}]}]}',
  ),
  {
    rule: 'null elements stay in their place',
    document: '{"oa":[{"id":1},null]}',
    projection: '{"field":"oa.*.id"}',
    result: '{"oa":[{"id":1},null]}',
  },
  {
    rule: 'an included empty object is returned',
    document: '{"any":{}}',
    projection: '{"field":"any"}',
    result: '{"any":{}}',
  },
  {
    rule: 'content of any needs recursive',
    document: '{"any":{"z":{"w":1},"y":2}}',
    projection: '{"field":"any"}',
    result: '{}',
  },
  {
    rule: 'deeper patterns reach into any',
    document: '{"any":{"z":{"w":1},"y":[1,2]}}',
    projection: '[{"field":"any.z.w"},{"field":"any.y.1"}]',
    result: '{"any":{"z":{"w":1},"y":[2]}}',
  },
  {
    rule: 'digits come back as they were written',
    document: '{"bd":1.10,"bi":123456789012345678901234567890,"i":9223372036854775807}',
    projection: '[{"field":"bd"},{"field":"bi"},{"field":"i"}]',
    result: '{"bd":1.10,"bi":123456789012345678901234567890,"i":9223372036854775807}',
  },
]
