import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeBinding, computeRole } from './ensure-default-roles.ts'
import { defaultClusterRoleBindings, defaultClusterRoles } from './default-roles.ts'
import { computeAggregatedRules } from './follow-cluster-roles.ts'

const find = <T extends { metadata: { name?: string | undefined } }>(all: readonly T[], name: string): T => {
  const found = all.find(({ metadata }) => metadata.name === name)
  assert.ok(found)
  return found
}

describe('default roles', () => {
  test('a role that lost a rule gets it again, and keeps what it has more', () => {
    const wanted = find(defaultClusterRoles, 'system:basic-user')
    const own = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
    const present = { ...wanted, rules: [own, ...(wanted.rules ?? []).slice(1)] }
    const { rules } = computeRole(present, wanted)
    assert.deepEqual(rules?.slice(0, 2), present.rules)
    assert.equal(rules?.length, 4)
    assert.deepEqual(computeRole(wanted, wanted), wanted)
  })

  test('a binding that lost a subject gets it again; one to another role stays', () => {
    const wanted = find(defaultClusterRoleBindings, 'system:public-info-viewer')
    const present = { ...wanted, subjects: wanted.subjects?.slice(1) }
    assert.equal(computeBinding(present, wanted).subjects?.length, 2)
    const other = { ...present, roleRef: { ...present.roleRef, name: 'x' } }
    assert.equal(computeBinding(other, wanted), other)
  })

  test('no default role but that of administrators may read secrets of all namespaces or use everything', () => {
    const view = find(defaultClusterRoles, 'view')
    const rules = computeAggregatedRules(view, defaultClusterRoles)
    assert.ok(rules.length > 5)
    assert.ok(!rules.some(({ resources = [] }) => resources.includes('secrets') || resources.includes('*')))
    const bound = defaultClusterRoleBindings.filter(({ subjects = [] }) =>
      subjects.some(({ name }) => name === 'system:authenticated'),
    )
    assert.deepEqual(
      bound.map(({ metadata }) => metadata.name),
      ['system:basic-user', 'system:discovery', 'system:public-info-viewer'],
    )
  })
})
