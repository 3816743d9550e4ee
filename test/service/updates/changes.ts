/** Updates of D1 that work, or change nothing. */

/** `becomes` holds the members that differ afterwards, null for those that are gone; `{}` means nothing changed. */
export interface ChangeCase {
  readonly rule: string
  readonly update: string
  readonly becomes: string
  /** Members that D1 gets before. */
  readonly given?: string
}

const to = (rule: string, update: string, becomes: string, given?: string): ChangeCase => ({
  rule,
  update,
  becomes,
  ...(given !== undefined && { given }),
})
const NA = '[{"p":"p1","q":1},{"p":"p2","q":2}]'
const E1 = `{"id":1,"n":"n1","k":10,"na":${NA},"na#":2,"si#":0}`
const E2 = '{"id":2,"n":"n2","k":20,"na":[],"na#":0,"si#":0}'
const E3 = '{"id":3,"n":"n3","na#":0,"si#":0}'
const nulls = (count: number): string => Array.from({ length: count }, () => 'null').join()

export const CHANGES: readonly ChangeCase[] = [
  // sizes are true at every step
  to(
    '$append, then the new size in a condition',
    '{"$append":{"sa":["four"]},"$foreach":{"ia":{"field":"$this","op":"<","rfield":"$parent.sa#"},"$update":"$remove"}}',
    '{"sa":["one","two","three","four"],"ia":[],"ia#":0,"sa#":4}',
  ),
  to(
    '$append, then a copy of the new size',
    '{"$append":{"sa":["four","five"]},"$set":{"i":{"$valueof":"sa#"}}}',
    '{"sa":["one","two","three","four","five"],"sa#":5,"i":5}',
  ),
  to(
    '$unset of an array, then a copy of its size',
    '{"$unset":"sa","$set":{"i":{"$valueof":"sa#"}}}',
    '{"sa":null,"sa#":0,"i":0}',
  ),
  to(
    '$set of an array, then a copy of its size',
    '{"$set":{"o":{"x":"ox","a":[7]}},"$add":{"i":{"$valueof":"o.a#"}}}',
    '{"o":{"x":"ox","a":[7],"a#":1},"i":4}',
  ),
  to(
    '$set of an object with a size but no array, then a copy of that size',
    '[{"$set":{"o":{"x":"ox","a#":-1}}},{"$set":{"i":{"$valueof":"o.a#"}}}]',
    '{"o":{"x":"ox","a#":0},"i":0}',
  ),
  to(
    '$set of an object without an array, then a copy of the size of that array',
    '[{"$set":{"o":{"x":"ox"}}},{"$set":{"i":{"$valueof":"o.a#"}}}]',
    '{"o":{"x":"ox","a#":0},"i":0}',
  ),
  to(
    '$foreach: removed elements count no more in the next condition',
    '{"$foreach":{"ia":{"field":"$parent.ia#","op":">","rvalue":1},"$update":"$remove"}}',
    '{"ia":[2],"ia#":1}',
  ),
  // $set of simple fields
  to('$set: a text', '{"$set":{"s":"new"}}', '{"s":"new"}'),
  to('$set: the same value changes nothing', '{"$set":{"s":"abc","i":3}}', '{}'),
  to('$set: the same value in another spelling', '{"$set":{"i":"3"}}', '{}'),
  to('$set: text that is a number', '{"$set":{"i":"7"}}', '{"i":7}'),
  to('$set: a number for a text keeps its digits', '{"$set":{"s":1.10}}', '{"s":"1.10"}'),
  to('$set: 64 bits', '{"$set":{"i":9223372036854775807}}', '{"i":9223372036854775807}'),
  to('$set: a decimal keeps its scale', '{"$set":{"bd":1.10}}', '{"bd":1.10}'),
  to('$set: another scale is another value', '{"$set":{"bd":1.10}}', '{"bd":1.10}', '{"bd":1.1}'),
  to('$set: a big integer', '{"$set":{"bi":"123456789012345678901"}}', '{"bi":123456789012345678901}'),
  to('$set: a double', '{"$set":{"d":"1.5"}}', '{"d":1.5}'),
  to('$set: a boolean', '{"$set":{"b":"true"}}', '{"b":true}'),
  to('$set: a date', '{"$set":{"dt":"2024-01-02T04:04:05+01:00"}}', '{"dt":"20240102T03:04:05.000+0000"}'),
  to('$set: base64 into binary', '{"$set":{"bin":"AQID"}}', '{"bin":"AQID"}'),
  to('$set: a uid', '{"$set":{"u":"x"}}', '{"u":"x"}'),
  to(
    '$set: an object into any, nulls and all',
    '{"$set":{"any":{"a":[null,1.10],"b":null}}}',
    '{"any":{"a":[null,1.10],"b":null}}',
  ),
  to('$set: an array into any', '{"$set":{"any":[1,[2]]}}', '{"any":[1,[2]]}'),
  to('$set: several fields', '{"$set":{"s":"x","m":"y"}}', '{"s":"x","m":"y"}'),
  to('$set: null takes a field away', '{"$set":{"s":null}}', '{"s":null}'),
  to('$set: the text $null is null', '{"$set":{"s":"$null"}}', '{"s":null}'),
  to('$set: null of what is absent', '{"$set":{"m":null}}', '{}'),
  to('$set: nothing', '{"$set":{}}', '{}'),
  to('an empty list of updates', '[]', '{}'),
  // $set of containers
  to('$set: an object replaces, it does not merge', '{"$set":{"o":{"x":"new"}}}', '{"o":{"x":"new","a#":0}}'),
  to('$set: an equal object changes nothing', '{"$set":{"o":{"a":[1,2],"y":5,"x":"ox"}}}', '{}'),
  to(
    '$set: values inside are converted',
    '{"$set":{"o":{"x":5,"a":["7"]}}}',
    '{"o":{"x":"5","a":[7],"a#":1}}',
  ),
  to('$set: null members vanish', '{"$set":{"o":{"x":"a","y":null}}}', '{"o":{"x":"a","a#":0}}'),
  to(
    '$set: sizes that are given are not believed',
    '{"$set":{"o":{"x":"a","a#":9}}}',
    '{"o":{"x":"a","a#":0}}',
  ),
  to('$set: an array', '{"$set":{"ia":[9,null]}}', '{"ia":[9,null],"ia#":2}'),
  to('$set: an equal array changes nothing', '{"$set":{"ia":[3,"1",2]}}', '{}'),
  to('$set: an empty array', '{"$set":{"ia":[]}}', '{"ia":[],"ia#":0}'),
  to('$set: an array to null', '{"$set":{"ia":null}}', '{"ia":null,"ia#":0}'),
  to('$set: an array that was absent', '{"$set":{"da":[]}}', '{"da":[],"da#":0}'),
  to('$set: an array of objects', '{"$set":{"oa":[{"id":7}]}}', '{"oa":[{"id":7,"na#":0,"si#":0}],"oa#":1}'),
  to('$set: an object to null', '{"$set":{"o":"$null"}}', '{"o":null}'),
  // paths
  to('$set: inside an object', '{"$set":{"o.y":6}}', '{"o":{"x":"ox","y":6,"a":[1,2],"a#":2}}'),
  to('$set: missing parents are made', '{"$set":{"deep.o.l":1}}', '{"deep":{"o":{"l":1}}}'),
  to('$set: null below an absent parent makes nothing', '{"$set":{"deep.o.l":null}}', '{}'),
  to('$set: null below an absent array makes nothing', '{"$set":{"ba.0.any":null}}', '{}'),
  to('$set: an array in an absent array', '{"$set":{"ba.0.any":1}}', '{"ba":[{"any":1}],"ba#":1}'),
  to('$set: by index', '{"$set":{"ia.0":9}}', '{"ia":[9,1,2]}'),
  to('$set: from the end', '{"$set":{"ia.-1":9}}', '{"ia":[3,1,9]}'),
  to('$set: with a plus', '{"$set":{"ia.+1":9}}', '{"ia":[3,9,2]}'),
  to('$set: an element to null stays an element', '{"$set":{"ia.1":null}}', '{"ia":[3,null,2]}'),
  to('$set: right past the end', '{"$set":{"ia.3":9}}', '{"ia":[3,1,2,9],"ia#":4}'),
  to('$set: past the end pads', '{"$set":{"ia.5":9}}', '{"ia":[3,1,2,null,null,9],"ia#":6}'),
  to('$set: null past the end changes nothing', '{"$set":{"ia.5":null}}', '{}'),
  to('$set: null before the start changes nothing', '{"$set":{"ia.-4":null}}', '{}'),
  to('$set: pads with up to 1,000', '{"$set":{"ia.1003":9}}', `{"ia":[3,1,2,${nulls(1000)},9],"ia#":1004}`),
  to(
    '$set: a member of an element',
    '{"$set":{"oa.1.n":"x"}}',
    `{"oa":[${E1},{"id":2,"n":"x","k":20,"na":[],"na#":0,"si#":0},${E3}]}`,
  ),
  to(
    '$set: a member of the last element',
    '{"$set":{"oa.-1.k":5}}',
    `{"oa":[${E1},${E2},{"id":3,"n":"n3","k":5,"na#":0,"si#":0}]}`,
  ),
  to(
    '$set: a member past the end, padded',
    '{"$set":{"oa.4.id":5}}',
    `{"oa":[${E1},${E2},${E3},null,{"id":5,"na#":0,"si#":0}],"oa#":5}`,
  ),
  to(
    '$set: an element that is an object',
    '{"$set":{"oa.1":{"id":9}}}',
    `{"oa":[${E1},{"id":9,"na#":0,"si#":0},${E3}]}`,
  ),
  to(
    '$set: a member of a null element',
    '{"$set":{"ba.0.any":1}}',
    '{"ba":[{"any":1}],"ba#":1}',
    '{"ba":[null]}',
  ),
  to('$set: $this is the document', '{"$set":{"$this.s":"x"}}', '{"s":"x"}'),
  to('$set: down and up again', '{"$set":{"o.y.$parent.x":"z"}}', '{"o":{"x":"z","y":5,"a":[1,2],"a#":2}}'),
  // $unset
  to('$unset: a field', '{"$unset":"s"}', '{"s":null}'),
  to('$unset: several', '{"$unset":["s","i"]}', '{"s":null,"i":null}'),
  to('$unset: what is absent', '{"$unset":"m"}', '{}'),
  to('$unset: below an absent parent', '{"$unset":["deep.o.l","ba.0.any","ba.-1"]}', '{}'),
  to('$unset: an object', '{"$unset":"o"}', '{"o":null}'),
  to('$unset: a member', '{"$unset":"o.y"}', '{"o":{"x":"ox","a":[1,2],"a#":2}}'),
  to('$unset: an array', '{"$unset":"ia"}', '{"ia":null,"ia#":0}'),
  to('$unset: an element, and the rest moves up', '{"$unset":"ia.0"}', '{"ia":[1,2],"ia#":2}'),
  to('$unset: twice the first', '{"$unset":["ia.0","ia.0"]}', '{"ia":[2],"ia#":1}'),
  to('$unset: from the end', '{"$unset":"ia.-1"}', '{"ia":[3,1],"ia#":2}'),
  to('$unset: past the end', '{"$unset":"ia.7"}', '{}'),
  to('$unset: before the start', '{"$unset":["ia.-4","oa.-9.n"]}', '{}'),
  to('$unset: nothing', '{"$unset":[]}', '{}'),
  to('$unset: an element of objects', '{"$unset":"oa.1"}', `{"oa":[${E1},${E3}],"oa#":2}`),
  to(
    '$unset: sizes inside elements',
    '{"$unset":"oa.0.na.0"}',
    `{"oa":[{"id":1,"n":"n1","k":10,"na":[{"p":"p2","q":2}],"na#":1,"si#":0},${E2},${E3}]}`,
  ),
  // $add
  to('$add: integer', '{"$add":{"i":2}}', '{"i":5}'),
  to('$add: negative', '{"$add":{"i":-5}}', '{"i":-2}'),
  to('$add: zero changes nothing', '{"$add":{"i":0}}', '{}'),
  to('$add: text that is a number', '{"$add":{"i":"2"}}', '{"i":5}'),
  to('$add: a missing field stays missing', '{"$add":{"i2":1}}', '{}'),
  to('$add: below an absent parent', '{"$add":{"deep.o.l":1}}', '{}'),
  to('$add: past the end and before the start', '{"$add":{"ia.7":1,"ia.-4":1}}', '{}'),
  to('$add: to an element', '{"$add":{"ia.-1":10}}', '{"ia":[3,1,12]}'),
  to('$add: beyond 2^53', '{"$add":{"i":1}}', '{"i":9007199254740993}', '{"i":9007199254740992}'),
  to(
    '$add: up to the last of 64 bits',
    '{"$add":{"i":1}}',
    '{"i":9223372036854775807}',
    '{"i":9223372036854775806}',
  ),
  to('$add: double', '{"$add":{"d":0.2}}', '{"d":0.30000000000000004}', '{"d":0.1}'),
  to('$add: biginteger', '{"$add":{"bi":1}}', '{"bi":100000000000000000000}', '{"bi":99999999999999999999}'),
  to('$add: a sum keeps the larger scale', '{"$add":{"bd":2}}', '{"bd":3.10}', '{"bd":1.10}'),
  to('$add: also that of the addend', '{"$add":{"bd":0.900}}', '{"bd":2.000}', '{"bd":1.1}'),
  to('$add: zero of a larger scale changes the scale', '{"$add":{"bd":0.00}}', '{"bd":1.10}', '{"bd":1.1}'),
  to('$add: exact', '{"$add":{"bd":0.2}}', '{"bd":0.3}', '{"bd":0.1}'),
  to('$add: $valueof', '{"$add":{"i":{"$valueof":"o.y"}}}', '{"i":8}'),
  to('$add: $valueof that converts', '{"$add":{"i":{"$valueof":"s"}}}', '{"i":10,"s":"7"}', '{"s":"7"}'),
  to('$add: $valueof that is missing', '{"$add":{"i":{"$valueof":"i2"}}}', '{}'),
  to('$add: to a null element', '{"$add":{"ia.0":1}}', '{}', '{"ia":[null]}'),
  // $append
  to('$append: one', '{"$append":{"ia":9}}', '{"ia":[3,1,2,9],"ia#":4}'),
  to('$append: a list, converted', '{"$append":{"ia":[9,"10"]}}', '{"ia":[3,1,2,9,10],"ia#":5}'),
  to('$append: no values', '{"$append":{"ia":[]}}', '{}'),
  to('$append: no values to an absent array make none', '{"$append":{"da":[]}}', '{}'),
  to('$append: null', '{"$append":{"ia":null}}', '{"ia":[3,1,2,null],"ia#":4}'),
  to('$append: $null in a list', '{"$append":{"ia":["$null",4]}}', '{"ia":[3,1,2,null,4],"ia#":5}'),
  to('$append: to an empty array', '{"$append":{"ia2":1}}', '{"ia2":[1],"ia2#":1}'),
  to('$append: makes the array', '{"$append":{"ba":{"any":[1]}}}', '{"ba":[{"any":[1]}],"ba#":1}'),
  to('$append: makes the parents', '{"$append":{"o2.a":"x"}}', '{"o2":{"a":["x"],"a#":1}}'),
  to(
    '$append: an object',
    '{"$append":{"oa":{"id":4}}}',
    `{"oa":[${E1},${E2},${E3},{"id":4,"na#":0,"si#":0}],"oa#":4}`,
  ),
  to(
    '$append: then set the new one',
    '[{"$append":{"oa":{}}},{"$set":{"oa.-1.id":9}}]',
    `{"oa":[${E1},${E2},${E3},{"id":9,"na#":0,"si#":0}],"oa#":4}`,
  ),
  to('$append: $valueof', '{"$append":{"ia":[{"$valueof":"i"},7]}}', '{"ia":[3,1,2,3,7],"ia#":5}'),
  to(
    '$append: a missing $valueof is null',
    '{"$append":{"ia":{"$valueof":"i2"}}}',
    '{"ia":[3,1,2,null],"ia#":4}',
  ),
  to(
    '$append: a copy of an element',
    '{"$append":{"ba":{"$valueof":"ba.0"}}}',
    '{"ba":[{"bd":1.10},{"bd":1.10}],"ba#":2}',
    '{"ba":[{"bd":1.10}]}',
  ),
  to(
    '$append: into an element',
    '{"$append":{"oa.1.si":"x"}}',
    `{"oa":[${E1},{"id":2,"n":"n2","k":20,"na":[],"na#":0,"si":["x"],"si#":1},${E3}]}`,
  ),
  // $insert
  to('$insert: before a position, in order', '{"$insert":{"ia.1":[7,8]}}', '{"ia":[3,7,8,1,2],"ia#":5}'),
  to('$insert: at the start', '{"$insert":{"ia.0":7}}', '{"ia":[7,3,1,2],"ia#":4}'),
  to('$insert: from the end', '{"$insert":{"ia.-1":7}}', '{"ia":[3,1,7,2],"ia#":4}'),
  to('$insert: from the end, the first', '{"$insert":{"ia.-3":7}}', '{"ia":[7,3,1,2],"ia#":4}'),
  to('$insert: at the end', '{"$insert":{"ia.3":7}}', '{"ia":[3,1,2,7],"ia#":4}'),
  to('$insert: past the end pads', '{"$insert":{"ia.5":[7,8]}}', '{"ia":[3,1,2,null,null,7,8],"ia#":7}'),
  to(
    '$insert: pads with up to 1,000',
    '{"$insert":{"ia2.1000":1}}',
    `{"ia2":[${nulls(1000)},1],"ia2#":1001}`,
  ),
  to('$insert: no values', '{"$insert":{"ia.1":[]}}', '{}'),
  to('$insert: no values anywhere', '{"$insert":{"ia.-9":[]}}', '{}'),
  to('$insert: makes the array', '{"$insert":{"ba.0":{}}}', '{"ba":[{}],"ba#":1}'),
  to(
    '$insert: a missing $valueof is null',
    '{"$insert":{"ia.0":{"$valueof":"i2"}}}',
    '{"ia":[null,3,1,2],"ia#":4}',
  ),
  // $foreach
  to(
    '$foreach: remove what matches',
    '{"$foreach":{"ia":{"field":"$this","op":">","rvalue":1},"$update":"$remove"}}',
    '{"ia":[1],"ia#":1}',
  ),
  to('$foreach: remove all', '{"$foreach":{"ia":"$all","$update":"$remove"}}', '{"ia":[],"ia#":0}'),
  to(
    '$foreach: nothing matches',
    '{"$foreach":{"ia":{"field":"$this","op":">","rvalue":9},"$update":"$remove"}}',
    '{}',
  ),
  to('$foreach: an absent array', '{"$foreach":{"da":"$all","$update":"$remove"}}', '{}'),
  to(
    '$foreach: a document that stays as it is',
    '{"$foreach":{"oa":"$all","$update":{"$set":{"k":{"$valueof":"k"}}}}}',
    '{}',
  ),
  to(
    '$foreach: names are relative to the element',
    '{"$foreach":{"oa":{"field":"id","op":">","rvalue":1},"$update":{"$set":{"n":"Z"}}}}',
    `{"oa":[${E1},{"id":2,"n":"Z","k":20,"na":[],"na#":0,"si#":0},{"id":3,"n":"Z","na#":0,"si#":0}]}`,
  ),
  to(
    '$foreach: $this can be set',
    '{"$foreach":{"ia":"$all","$update":{"$set":{"$this":1}}}}',
    '{"ia":[1,1,1]}',
  ),
  to(
    '$foreach: $this can be added to',
    '{"$foreach":{"ia":"$all","$update":{"$add":{"$this":1}}}}',
    '{"ia":[4,2,3]}',
  ),
  to(
    '$foreach: $this can be null',
    '{"$foreach":{"ia":{"field":"$this","op":"=","rvalue":1},"$update":{"$set":{"$this":null}}}}',
    '{"ia":[3,null,2]}',
  ),
  to(
    '$foreach: $this can be an object',
    '{"$foreach":{"oa":{"field":"id","op":"=","rvalue":1},"$update":{"$set":{"$this":{"id":8}}}}}',
    `{"oa":[{"id":8,"na#":0,"si#":0},${E2},${E3}]}`,
  ),
  to(
    '$foreach: $parent of an element is the object that holds the array',
    '{"$foreach":{"ia":{"field":"$this","op":"=","rfield":"$parent.i"},"$update":{"$set":{"$parent.m":"yes"}}}}',
    '{"m":"yes"}',
  ),
  to(
    '$foreach: writes above the element',
    '{"$foreach":{"ia":"$all","$update":{"$add":{"$parent.i":{"$valueof":"$this"}}}}}',
    '{"i":9}',
  ),
  to(
    '$foreach: nested, and the way up from there',
    '{"$foreach":{"oa":"$all","$update":{"$foreach":{"na":"$all","$update":{"$set":{"p":{"$valueof":"$parent.n"},"q":{"$valueof":"$parent.$parent.i"}}}}}}}',
    `{"oa":[{"id":1,"n":"n1","k":10,"na":[{"p":"n1","q":3},{"p":"n1","q":3}],"na#":2,"si#":0},${E2},${E3}]}`,
  ),
  to(
    '$foreach: over arrays in arrays',
    '{"$foreach":{"oa.*.na":{"field":"q","op":"=","rvalue":2},"$update":"$remove"}}',
    `{"oa":[{"id":1,"n":"n1","k":10,"na":[{"p":"p1","q":1}],"na#":1,"si#":0},${E2},${E3}]}`,
  ),
  to(
    '$foreach: by index',
    '{"$foreach":{"oa.0.na":"$all","$update":{"$unset":"p"}}}',
    `{"oa":[{"id":1,"n":"n1","k":10,"na":[{"q":1},{"q":2}],"na#":2,"si#":0},${E2},${E3}]}`,
  ),
  to(
    '$foreach: appends everywhere and makes what is missing',
    '{"$foreach":{"oa":"$all","$update":{"$append":{"na":{"p":"new"}}}}}',
    '{"oa":[{"id":1,"n":"n1","k":10,"na":[{"p":"p1","q":1},{"p":"p2","q":2},{"p":"new"}],"na#":3,"si#":0},' +
      '{"id":2,"n":"n2","k":20,"na":[{"p":"new"}],"na#":1,"si#":0},{"id":3,"n":"n3","na":[{"p":"new"}],"na#":1,"si#":0}]}',
  ),
  to(
    '$foreach: a query means there what it means elsewhere: != matches what is missing',
    '{"$foreach":{"oa":{"field":"k","op":"!=","rvalue":10},"$update":"$remove"}}',
    `{"oa":[${E1}],"oa#":1}`,
  ),
  to(
    '$foreach: $and [] selects all',
    '{"$foreach":{"ia":{"$and":[]},"$update":[{"$add":{"$this":1}},{"$add":{"$this":1}}]}}',
    '{"ia":[5,3,4]}',
  ),
  to(
    '$foreach: what the action adds to the array is not walked through',
    '{"$foreach":{"ia":"$all","$update":{"$append":{"$parent.ia":{"$valueof":"$this"}}}}}',
    '{"ia":[3,1,2,3,1,2],"ia#":6}',
  ),
  to(
    '$foreach: an element that the action moves is visited once, and written where it is then',
    '{"$foreach":{"ia":"$all","$update":[{"$insert":{"$parent.ia.0":9}},{"$add":{"$this":10}}]}}',
    '{"ia":[9,9,9,13,11,12],"ia#":6}',
  ),
  to(
    '$foreach: what the action inserts before the next element is not visited',
    '{"$foreach":{"ia":"$all","$update":[{"$insert":{"$parent.ia.1":9}},{"$append":{"$parent.sa":{"$valueof":"$this"}}}]}}',
    '{"ia":[3,9,9,9,1,2],"ia#":6,"sa":["one","two","three","3","1","2"],"sa#":6}',
  ),
  to(
    '$foreach: after the action removes its element, the next one is visited',
    '{"$foreach":{"ia":"$all","$update":[{"$append":{"$parent.sa":{"$valueof":"$this"}}},{"$unset":"$parent.ia.0"}]}}',
    '{"ia":[],"ia#":0,"sa":["one","two","three","3","1","2"],"sa#":6}',
  ),
  to(
    '$foreach: an element that the action removes before its turn is not visited',
    '{"$foreach":{"ia":"$all","$update":[{"$append":{"$parent.sa":{"$valueof":"$this"}}},{"$unset":"$parent.ia.1"}]}}',
    '{"ia":[3],"ia#":1,"sa":["one","two","three","3","2"],"sa#":5}',
  ),
  to(
    '$foreach: nothing is left to visit once the action has replaced the array',
    '{"$foreach":{"ia":"$all","$update":[{"$append":{"$parent.sa":{"$valueof":"$this"}}},{"$set":{"$parent.ia":[7,8]}}]}}',
    '{"ia":[7,8],"ia#":2,"sa":["one","two","three","3"],"sa#":4}',
  ),
  to(
    '$foreach: what is written to an element after its removal has no effect',
    '{"$foreach":{"oa":{"field":"id","op":"=","rvalue":1},"$update":[{"$unset":"$parent.oa.0"},{"$set":{"n":"Z"}},{"$append":{"na":{"p":"new"}}},{"$insert":{"na.-1":{}}}]}}',
    `{"oa":[${E2},${E3}],"oa#":2}`,
  ),
  to(
    '$foreach: over arrays in arrays, whose objects the action moves',
    '{"$foreach":{"oa.*.na":{"field":"q","op":"=","rvalue":1},"$update":[{"$insert":{"$parent.$parent.oa.0":{"id":8}}},{"$set":{"p":{"$valueof":"$parent.n"}}}]}}',
    `{"oa":[{"id":8,"na#":0,"si#":0},${E1.replace('p1', 'n1')},${E2},${E3}],"oa#":4}`,
  ),
  to(
    '$foreach: over an array below an index, whose object the action moves',
    '{"$foreach":{"oa.0.na":{"field":"q","op":"=","rvalue":1},"$update":[{"$insert":{"$parent.$parent.oa.0":{"id":8}}},{"$set":{"p":"x"}}]}}',
    `{"oa":[{"id":8,"na#":0,"si#":0},${E1.replace('p1', 'x')},${E2},${E3}],"oa#":4}`,
  ),
  to(
    '$foreach: an inner loop over the same array removes elements of the outer one',
    '{"$foreach":{"ia":"$all","$update":[{"$foreach":{"$parent.ia":{"field":"$this","op":"=","rvalue":1},"$update":"$remove"}},{"$add":{"$this":10}}]}}',
    '{"ia":[13,12],"ia#":2}',
  ),
  to(
    '$foreach: elements before see what happened to those before them',
    '{"$foreach":{"ia":{"field":"$this","op":"=","rfield":"$parent.ia.0"},"$update":"$remove"}}',
    '{"ia":[],"ia#":0}',
  ),
  // $valueof
  to('$valueof: of the same type', '{"$set":{"m":{"$valueof":"s"}}}', '{"m":"abc"}'),
  to('$valueof: a number as text', '{"$set":{"s":{"$valueof":"i"}}}', '{"s":"3"}'),
  to('$valueof: text as a number', '{"$set":{"i":{"$valueof":"s"}}}', '{"i":12}', '{"s":"12"}'),
  to(
    '$valueof: a decimal as text keeps its scale',
    '{"$set":{"s":{"$valueof":"bd"}}}',
    '{"s":"1.10"}',
    '{"bd":1.10}',
  ),
  to('$valueof: missing takes the target away', '{"$set":{"s":{"$valueof":"m"}}}', '{"s":null}'),
  to('$valueof: missing for a missing one', '{"$set":{"m":{"$valueof":"s2"}}}', '{}'),
  to('$valueof: by index', '{"$set":{"i":{"$valueof":"ia.-1"}}}', '{"i":2}'),
  to('$valueof: a size', '{"$set":{"i":{"$valueof":"oa#"}}}', '{"i":3}', '{"i":4}'),
  to(
    '$valueof: an object, converted member by member',
    '{"$set":{"o2":{"$valueof":"o"}}}',
    '{"o2":{"x":"ox","y":"5","a":["1","2"],"a#":2}}',
  ),
  to(
    '$valueof: sizes of arrays do not stand in the way of a copy',
    '{"$set":{"o3":{"$valueof":"o"}}}',
    '{"o":{"x":"ox","y":5,"a#":0},"o3":{"x":"ox","y":5}}',
    '{"o":{"x":"ox","y":5}}',
  ),
  to('$valueof: an array', '{"$set":{"sa":{"$valueof":"ia"}}}', '{"sa":["3","1","2"]}'),
  to(
    '$valueof: an object into any, without sizes',
    '{"$set":{"any":{"$valueof":"o"}}}',
    '{"any":{"x":"ox","y":5,"a":[1,2]}}',
  ),
  to('$valueof: an array into any', '{"$set":{"any":{"$valueof":"ia"}}}', '{"any":[3,1,2]}'),
  to(
    '$valueof: an element',
    '{"$set":{"oa.1":{"$valueof":"oa.2"},"oa.2":null}}',
    `{"oa":[${E1},${E3},null]}`,
  ),
  to(
    '$valueof: two keys are a literal',
    '{"$set":{"any":{"$valueof":"s","x":1}}}',
    '{"any":{"$valueof":"s","x":1}}',
  ),
  to(
    '$valueof: copies do not share',
    '[{"$set":{"ia2":{"$valueof":"ia"}}},{"$set":{"ia.0":0}}]',
    '{"ia2":[3,1,2],"ia2#":3,"ia":[0,1,2]}',
  ),
  // order
  to(
    'several operators in one object, in order',
    '{"$set":{"i":10},"$add":{"i":1},"$append":{"ia":{"$valueof":"i"}}}',
    '{"i":11,"ia":[3,1,2,11],"ia#":4}',
  ),
  to(
    'and in the other order',
    '{"$append":{"ia":{"$valueof":"i"}},"$add":{"i":1},"$set":{"i":10}}',
    '{"i":10,"ia":[3,1,2,3],"ia#":4}',
  ),
  to(
    'each sees what those before did',
    '[{"$set":{"s":"x"}},{"$set":{"m":{"$valueof":"s"}}},{"$unset":"s"}]',
    '{"m":"x","s":null}',
  ),
  to(
    'there and back is no change',
    '[{"$add":{"i":1}},{"$add":{"i":-1}},{"$append":{"ia":5}},{"$unset":"ia.-1"}]',
    '{}',
  ),
]
