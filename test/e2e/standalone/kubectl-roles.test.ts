import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startKubectlApi } from './kubectl-api.ts'
import type { KubectlApi } from './kubectl-api.ts'

const BOT = 'system:serviceaccount:shop:bot'

describe('kubectl with roles', () => {
  let api: KubectlApi
  before(async () => {
    api = await startKubectlApi()
    await api.run(['create', 'namespace', 'shop'])
    await api.run(['create', 'serviceaccount', 'bot', '-n', 'shop'])
  })
  after(async () => await api[Symbol.asyncDispose]())

  async function canI(user: string, ...question: readonly string[]): Promise<boolean> {
    const args = ['auth', 'can-i', ...question, `--as=${user}`]
    const answer = await api.run(args).catch(async () => await api.fail(args))
    const word = /^(yes|no)\b/m.exec(answer)?.[1]
    assert.ok(word !== undefined, answer)
    return word === 'yes'
  }

  test('gives a service account what a role in its namespace has, and no more', async () => {
    assert.equal(await canI(BOT, 'list', 'pods', '-n', 'shop'), false)
    await api.run(['create', 'role', 'pods', '-n', 'shop', '--verb=get,list,watch', '--resource=pods,pods/log'])
    await api.run(['create', 'rolebinding', 'pods', '-n', 'shop', '--role=pods', '--serviceaccount=shop:bot'])
    assert.deepEqual(
      [
        await canI(BOT, 'list', 'pods', '-n', 'shop'),
        await canI(BOT, 'get', 'pods', '--subresource=log', '-n', 'shop'),
        await canI(BOT, 'get', 'pods', '--subresource=exec', '-n', 'shop'),
        await canI(BOT, 'delete', 'pods', '-n', 'shop'),
        await canI(BOT, 'list', 'pods', '-n', 'default'),
      ],
      [true, true, false, false, false],
    )
    await api.run(['get', 'pods', '-n', 'shop', `--as=${BOT}`])
    const refusal = await api.fail(['get', 'pods', `--as=${BOT}`])
    const text = `pods is forbidden: User "${BOT}" cannot list resource "pods" in API group "" in the namespace "default"`
    assert.ok(refusal.includes(text), refusal)
    assert.match(
      await api.run(['auth', 'can-i', '--list', '-n', 'shop', `--as=${BOT}`]),
      /pods\/log\s+\[\]\s+\[\]\s+\[get list watch\]/,
    )
  })

  test('reconciles: adds what is missing, keeps what is there', async () => {
    const role = (name: string, verbs: readonly string[]) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name, namespace: 'shop' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
    })
    const input = (verbs: readonly string[]) => JSON.stringify(role('maps', verbs))
    await api.run(['auth', 'reconcile', '-f', '-'], input(['get']))
    await api.run(['auth', 'reconcile', '-f', '-'], input(['list']))
    await api.run(['create', 'rolebinding', 'maps', '-n', 'shop', '--role=maps', '--user=ann'])
    assert.deepEqual(
      [await canI('ann', 'get', 'cm', '-n', 'shop'), await canI('ann', 'list', 'cm', '-n', 'shop')],
      [true, true],
    )
    await api.run(['auth', 'reconcile', '--remove-extra-permissions', '-f', '-'], input(['list']))
    assert.equal(await canI('ann', 'get', 'cm', '-n', 'shop'), false)
  })

  test('adds the rules of labelled cluster roles to one that gathers them', async () => {
    await api.run(['create', 'clusterrole', 'gathered', '--aggregation-rule=farm=true'])
    await api.run(['create', 'clusterrolebinding', 'gathered', '--clusterrole=gathered', '--user=ben'])
    assert.equal(await canI('ben', 'list', 'nodes'), false)
    await api.run(['create', 'clusterrole', 'part', '--verb=list', '--resource=nodes'])
    await api.run(['label', 'clusterrole', 'part', 'farm=true'])
    await api.run(['get', 'nodes', '--as=ben'])
    assert.equal(await api.run(['get', 'clusterrole', 'gathered', '-o', 'jsonpath={.rules[0].resources[0]}']), 'nodes')
    await api.run(['delete', 'clusterrole', 'part'])
    assert.equal(await canI('ben', 'list', 'nodes'), false)
  })

  test('lets nobody give more than they have', async () => {
    await api.run(['create', 'rolebinding', 'edits', '-n', 'shop', '--clusterrole=admin', '--user=eve'])
    const asEve = ['-n', 'shop', '--as=eve']
    await api.run(['create', 'role', 'modest', '--verb=get', '--resource=secrets', ...asEve])
    const wide = await api.fail(['create', 'role', 'wide', '--verb=*', '--resource=nodes', ...asEve])
    assert.match(wide, /is attempting to grant RBAC permissions not currently held/)
    const bound = await api.fail([
      'create',
      'rolebinding',
      'all',
      '--clusterrole=cluster-admin',
      '--user=eve',
      ...asEve,
    ])
    assert.match(bound, /is attempting to grant RBAC permissions not currently held/)
    const change = JSON.stringify({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    })
    assert.match(
      await api.fail(['patch', 'rolebinding', 'edits', '-n', 'shop', '--type=merge', '-p', change]),
      /cannot change roleRef/,
    )
  })
})
