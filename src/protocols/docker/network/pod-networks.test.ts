import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { beforeEach, describe, test } from 'node:test'
import { systemClock } from '../../../base/async/clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { createRecordFolder } from '../../../system/files/state/create-record-folder.ts'
import { PodSandboxConfig } from '../../cri/generated/runtime-v1.ts'
import { PodNetworks } from './pod-networks.ts'

const never = new AbortController().signal
const OWNER = 'unix:///docker.sock'
const config = PodSandboxConfig.fromPartial({ metadata: { name: 'web', namespace: 'default', uid: 'u' } })
const pod = { name: 'web', namespace: 'default', uid: 'u' }
const result = { cniVersion: '0.4.0', ips: [{ version: '4', address: '10.1.0.5/16' }] }

// Writes down how it was called, and answers what the file beside it says.
const PLUGIN = `#!/bin/sh
name=$(basename "$0"); read -r stdin
echo "$name $CNI_COMMAND $CNI_IFNAME [$CNI_NETNS] $stdin" >> "$(dirname "$0")/calls"
test -e "$(dirname "$0")/$name.$CNI_COMMAND" || exit 0
cat "$(dirname "$0")/$name.$CNI_COMMAND"
grep -q '"msg"' "$(dirname "$0")/$name.$CNI_COMMAND" && exit 1 || exit 0
`

describe('PodNetworks', () => {
  let folder: string
  let networks: PodNetworks

  const open = (enabled = true) =>
    new PodNetworks({
      settings: {
        enabled,
        configurations: join(folder, 'conf'),
        programs: [join(folder, 'bin')],
        mtu: 0,
        records: createRecordFolder(join(folder, 'cache')),
      },
      owner: OWNER,
      clock: systemClock,
      log: silentLogger,
    })
  const answer = (name: string, value: unknown) => writeFile(join(folder, 'bin', name), `${JSON.stringify(value)}\n`)
  const configure = (plugins: readonly object[]) =>
    writeFile(join(folder, 'conf', '10-pods.conflist'), JSON.stringify({ cniVersion: '0.4.0', name: 'pods', plugins }))
  const calls = async (parts = 2) =>
    (await readFile(join(folder, 'bin', 'calls'), 'utf8').catch(() => ''))
      .trim()
      .split('\n')
      .map((line) => line.split(' ').slice(0, parts).join(' '))

  beforeEach(async (t) => {
    folder = await mkdtemp(join(tmpdir(), 'pod-networks-'))
    if ('after' in t) t.after(() => rm(folder, { recursive: true }))
    await mkdir(join(folder, 'conf'))
    await mkdir(join(folder, 'bin'))
    for (const name of ['loopback', 'first', 'second']) {
      await writeFile(join(folder, 'bin', name), PLUGIN)
      await chmod(join(folder, 'bin', name), 0o755)
      await answer(`${name}.ADD`, result)
    }
    await configure([{ type: 'first' }, { type: 'second' }])
    networks = open()
  })

  test('attaches by one plugin after the other, and detaches in the other order with what came of it', async () => {
    await networks.setUp('abc', { namespace: '/proc/7/ns/net', config }, never)
    assert.deepEqual(await networks.addresses('abc'), ['10.1.0.5'])
    await networks.tearDown('abc', '', pod, never)
    assert.equal(await networks.addresses('abc'), undefined)
    const all = (await readFile(join(folder, 'bin', 'calls'), 'utf8')).trim().split('\n')
    assert.deepEqual(
      all.map((line) => [line.split(' ').slice(0, 4).join(' '), line.includes('prevResult')]),
      [
        ['loopback ADD lo [/proc/7/ns/net]', false],
        ['first ADD eth0 [/proc/7/ns/net]', false],
        ['second ADD eth0 [/proc/7/ns/net]', true],
        ['second DEL eth0 []', true],
        ['first DEL eth0 []', true],
      ],
    )
    assert.deepEqual(await readdir(join(folder, 'cache')), [])
  })

  test('says what a plugin said, in the words of old', async () => {
    await answer('second.ADD', { code: 7, msg: 'no address left', details: 'of 254' })
    await assert.rejects(networks.setUp('abc', { namespace: '/n', config }, never), {
      message: `failed to set up sandbox container "abc" network for pod "web": networkPlugin cni failed to set up pod "web_default" network: plugin ${folder}/bin/second failed: no address left; of 254`,
    })
    assert.equal(await networks.addresses('abc'), undefined)
    await rm(join(folder, 'bin', 'first'))
    await assert.rejects(networks.setUp('abc', { namespace: '/n', config }, never), /failed to find plugin "first" in/)
  })

  test('detaches by the configuration of then, also after a restart of the agent', async () => {
    await networks.setUp('abc', { namespace: '/n', config }, never)
    await configure([{ type: 'other' }])
    await open().tearDown('abc', '', pod, never)
    assert.deepEqual((await calls()).slice(-2), ['second DEL', 'first DEL'])
  })

  test('detaches what was attached in part, and goes on where a plugin finds nothing left', async () => {
    await answer('second.DEL', { code: 3, msg: 'open /x: no such file or directory' })
    await networks.tearDown('abc', '', pod, never)
    assert.deepEqual(await calls(), ['second DEL', 'first DEL'])
    await answer('second.DEL', { code: 3, msg: 'busy' })
    await assert.rejects(
      networks.tearDown('abc', '', pod, never),
      /networkPlugin cni failed to teardown pod "web_default" network: .*busy/,
    )
  })

  test('waits for a plugin that an earlier agent left at work before it detaches what that may have attached', async () => {
    const id = `left-${process.pid}`
    const plugin = spawn('sleep', ['0.4'], { env: { PATH: process.env['PATH'], CNI_CONTAINERID: id } })
    const ended = once(plugin, 'exit').then(() => calls())
    await networks.tearDown(id, '', pod, never)
    assert.deepEqual([await ended, await calls()], [[''], ['second DEL', 'first DEL']])
  })

  test('keeps a record as long as a sandbox could not be detached', async () => {
    await networks.setUp('abc', { namespace: '/n', config }, never)
    await answer('first.DEL', { msg: 'busy' })
    await assert.rejects(networks.tearDown('abc', '', pod, never), /busy/)
    assert.equal(await open().hasRecord('abc'), true)
  })

  test('detaches sandboxes that are gone, of its own Docker alone, and tries again what failed', async () => {
    await networks.setUp('abc', { namespace: '/n', config }, never)
    await networks.setUp('def', { namespace: '/n', config }, never)
    const next = open()
    await answer('first.DEL', { msg: 'busy' })
    await next.sweep(await next.listAttached(), new Set(['def']), never)
    assert.deepEqual([await next.hasRecord('abc'), await next.hasRecord('def')], [true, true])
    await rm(join(folder, 'bin', 'first.DEL'))
    await next.sweep(await next.listAttached(), new Set(['def']), never)
    assert.deepEqual([await next.hasRecord('abc'), await next.hasRecord('def')], [false, true])
  })

  test('has the plugins check what an earlier agent attached, once', async () => {
    await networks.setUp('abc', { namespace: '/n', config }, never)
    networks.check('abc', '/n', never)
    const next = open()
    next.check('abc', '/n', never)
    next.check('abc', '/n', never)
    while ((await calls()).length < 5) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual((await calls()).slice(3), ['first CHECK', 'second CHECK'])
  })

  test('is not ready without a configuration, in the words of old', async () => {
    assert.equal(await networks.findFault(), undefined)
    await configure([{ type: 'first', capabilities: { ipRanges: true } }])
    assert.equal(
      await networks.findFault(),
      'docker: network plugin is not ready: cni config needs ipRanges but no PodCIDR set',
    )
    networks.setPodCidr('10.1.0.0/24')
    assert.equal(await networks.findFault(), undefined)
    await rm(join(folder, 'conf'), { recursive: true })
    assert.equal(await networks.findFault(), 'docker: network plugin is not ready: cni config uninitialized')
    await assert.rejects(networks.setUp('abc', { namespace: '/n', config }, never), /cni config uninitialized/)
    assert.equal(await open(false).findFault(), undefined)
  })
})
