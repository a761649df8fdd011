import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { PolicyRule } from '../../model/generated/api-groups.ts'
import { ruleAllows } from './authorize-by-roles.ts'
import { findMissingRights, ruleText } from './find-missing-rights.ts'

const words = ['a', 'b', '*']
const list = fc.subarray(words, { minLength: 1 })
const ruleOf: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: list,
  apiGroups: list,
  resources: fc.subarray([...words, 'a/x', '*/x'], { minLength: 1 }),
  resourceNames: fc.subarray(['n', 'm']),
})

describe('findMissingRights()', () => {
  test('joins the verbs of a resource, and keeps names and paths apart', () => {
    const wanted: readonly PolicyRule[] = [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'nodes'] },
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      { verbs: ['get', 'post'], nonResourceURLs: ['/x'] },
    ]
    assert.deepEqual(
      findMissingRights([{ verbs: ['get'], apiGroups: [''], resources: ['nodes'] }], wanted).map(ruleText),
      [
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["nodes"], Verbs:["list"]}',
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
        '{NonResourceURLs:["/x"], Verbs:["post"]}',
      ],
    )
  })

  test('what is covered allows nothing that the owner may not', () => {
    const base = { user: { name: '', groups: [] }, isResource: true, path: '', namespace: '', fields: {} }
    const one = fc.constantFrom('a', 'b', 'c')
    fc.assert(
      fc.property(
        fc.array(ruleOf),
        ruleOf,
        one,
        one,
        one,
        fc.constantFrom('', 'x'),
        fc.constantFrom('', 'n', 'm', 'o'),
        (owned, wanted, verb, group, resource, subresource, name) => {
          fc.pre(findMissingRights(owned, [wanted]).length === 0)
          const asked = { ...base, verb, group, resource, subresource, name }
          assert.ok(!ruleAllows(wanted, asked) || owned.some((rule) => ruleAllows(rule, asked)))
        },
      ),
      { numRuns: 3000 },
    )
  })
})
