import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PolicyRule, RoleRef, Subject } from '../../model/generated/api-groups.ts'
import { authorizeByRoles, coversPath, ruleAllows } from './authorize-by-roles.ts'
import type { Roles } from './roles.ts'

const pods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }
const jane = { name: 'jane', groups: ['devs'] }
const question = {
  user: jane,
  isResource: true,
  verb: 'get',
  path: '',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'shop',
  name: 'a',
  fields: {},
}

describe('ruleAllows()', () => {
  const cases: readonly (readonly [rule: Partial<PolicyRule>, asked: Partial<typeof question>, allowed: boolean])[] = [
    [{}, {}, true],
    [{}, { verb: 'watch' }, false],
    [{ verbs: ['*'] }, { verb: 'watch' }, true],
    [{}, { group: 'apps' }, false],
    [{ apiGroups: ['*'] }, { group: 'apps' }, true],
    [{}, { subresource: 'log' }, false],
    [{ resources: ['pods/log'] }, { subresource: 'log' }, true],
    [{ resources: ['pods/log'] }, {}, false],
    [{ resources: ['*/log'] }, { subresource: 'log' }, true],
    [{ resources: ['*/log'] }, {}, false],
    [{ resources: ['pods/*'] }, { subresource: 'log' }, false],
    [{ resources: ['*'] }, { subresource: 'log' }, true],
    [{ resourceNames: ['a'] }, {}, true],
    [{ resourceNames: ['b'] }, {}, false],
    [{ resourceNames: ['a'] }, { name: '' }, false],
    // A rule about resources says nothing about paths, and the other way round.
    [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, { isResource: false, path: '/metrics' }, false],
    [{ apiGroups: [], resources: [], nonResourceURLs: ['*'], verbs: ['*'] }, {}, false],
  ]
  for (const [rule, asked, allowed] of cases) {
    test(`${JSON.stringify(rule)} ${JSON.stringify(asked)}: ${allowed}`, () => {
      assert.equal(ruleAllows({ ...pods, ...rule }, { ...question, ...asked }), allowed)
    })
  }

  test('paths', () => {
    assert.deepEqual(
      ['/a', '/a/', '/a/b', '/ab', '/'].map((path) => [
        coversPath('/a/*', path),
        coversPath('/a*', path),
        coversPath('/a', path),
      ]),
      [
        [false, true, true],
        [true, true, false],
        [true, true, false],
        [false, true, false],
        [false, false, false],
      ],
    )
  })
})

describe('authorizeByRoles()', () => {
  const meta = (name: string, namespace?: string) => ({
    apiVersion: '',
    kind: '',
    metadata: { name, ...(namespace && { namespace }) },
  })
  const toRole: RoleRef = { kind: 'Role', name: 'reader' }
  const rolesWith = (subject: Subject, roleRef = toRole): Roles => ({
    clusterRoleBindings: () => (roleRef.kind === 'Role' ? [] : [{ ...meta('b'), roleRef, subjects: [subject] }]),
    roleBindings: (namespace) =>
      roleRef.kind === 'Role' && namespace === 'shop' ? [{ ...meta('b', 'shop'), roleRef, subjects: [subject] }] : [],
    clusterRole: (name) => (name === 'reader' ? { ...meta(name), rules: [pods] } : undefined),
    role: (namespace, name) =>
      namespace === 'shop' && name === 'reader' ? { ...meta(name), rules: [pods] } : undefined,
  })
  const reasonFor = (user: { name: string; groups: readonly string[] }, roles: Roles, namespace = 'shop') =>
    authorizeByRoles({ ...question, user, namespace }, roles)

  test('says which binding allows it', () => {
    assert.deepEqual(reasonFor(jane, rolesWith({ kind: 'User', name: 'jane' })), {
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/shop" of Role "reader" to User "jane"',
    })
    const everywhere = rolesWith({ kind: 'Group', name: 'devs' }, { kind: 'ClusterRole', name: 'reader' })
    assert.equal(
      reasonFor(jane, everywhere, '').reason,
      'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to Group "devs"',
    )
  })

  test('a binding of a namespace is good for that namespace alone', () => {
    const roles = rolesWith({ kind: 'User', name: 'jane' })
    assert.deepEqual(
      ['shop', 'other', ''].map((namespace) => reasonFor(jane, roles, namespace).allowed),
      [true, false, false],
    )
  })

  test('a service account is one of the namespace of the binding, if the subject names none', () => {
    const robot = { name: 'system:serviceaccount:shop:robot', groups: [] }
    assert.equal(reasonFor(robot, rolesWith({ kind: 'ServiceAccount', name: 'robot' })).allowed, true)
    assert.equal(
      reasonFor(robot, rolesWith({ kind: 'ServiceAccount', name: 'robot', namespace: 'other' })).allowed,
      false,
    )
    const everywhere = rolesWith({ kind: 'ServiceAccount', name: 'robot' }, { kind: 'ClusterRole', name: 'reader' })
    assert.equal(reasonFor(robot, everywhere).allowed, false)
  })

  test('a role that is not there allows nothing, and is named', () => {
    const roles = rolesWith({ kind: 'User', name: 'jane' }, { kind: 'ClusterRole', name: 'lost' })
    assert.deepEqual(reasonFor(jane, roles), {
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "lost" not found',
    })
  })
})
