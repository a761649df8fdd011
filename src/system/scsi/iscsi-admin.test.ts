import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createIscsiAdmin } from './iscsi-admin.ts'

const { signal } = new AbortController()
const path = { portal: '192.0.2.1:3260', iqn: 'iqn.x', iface: 'default' }
const DB = '-m discoverydb -t sendtargets -p 192.0.2.1:3260 -I default'
const NODE = '-m node -p 192.0.2.1:3260 -T iqn.x -I default'
const CHAP = { 'node.session.auth.username': 'me', 'node.session.auth.password': 'hush', other: 'x' }

/** Exit codes by the beginning of the arguments; 0 for all others. */
function createAdmin(codes: Readonly<Record<string, number>> = {}, stdout = '') {
  const calls: string[] = []
  const admin = createIscsiAdmin({
    clock: new FakeClock(),
    log: silentLogger,
    run: async (_, { argv, deadlineMs }) => {
      const [program, ...args] = argv
      assert.equal(program, 'iscsiadm')
      assert.ok(deadlineMs > 0)
      const line = args.join(' ')
      calls.push(line)
      const code = Object.entries(codes).find(([start]) => line.startsWith(start))?.[1] ?? 0
      if (code < 0) throw new DeadlineError(`"${argv.join(' ')}" took too long`)
      return { exitCode: code, stdout, stderr: code === 0 ? '' : 'iscsiadm: no' }
    },
  })
  return { admin, calls }
}

describe('createIscsiAdmin()', () => {
  test('asks a portal for its targets, and forgets it where it does not answer', async () => {
    const { admin, calls } = createAdmin({ [`${DB} -o new`]: 6 })
    await admin.discover(path, undefined, signal)
    assert.deepEqual(calls, [`${DB} -o new`, `${DB} --discover`])
    const away = createAdmin({ [`${DB} --discover`]: 4 })
    await assert.rejects(away.admin.discover(path, undefined, signal), {
      message: `Cannot run "iscsiadm ${DB} --discover": exit code 4, expected 0: iscsiadm: no`,
    })
    assert.deepEqual(away.calls.slice(-1), [`${DB} -o delete`])
  })

  test('logs in by hand, so that a machine that boots waits for no target; a session that is there will do', async () => {
    const { admin, calls } = createAdmin({ [`${NODE} --login`]: 15, [`${NODE} -o update -n node.session.scan`]: 7 })
    await admin.login(path, undefined, signal)
    assert.deepEqual(calls, [
      `${NODE} -o update -n node.session.scan -v manual`,
      `${NODE} --login`,
      `${NODE} -o update -n node.startup -v manual`,
    ])
    const refused = createAdmin({ [`${NODE} --login`]: 24 })
    await assert.rejects(refused.admin.login(path, undefined, signal), /exit code 24/)
    assert.deepEqual(refused.calls.slice(-1), [`${NODE} -o delete`])
  })

  test('sets what CHAP has to know and nothing else, and shows none of it', async () => {
    const { admin, calls } = createAdmin()
    await admin.login(path, CHAP, signal)
    assert.deepEqual(calls.slice(1, 4), [
      `${NODE} -o update -n node.session.auth.authmethod -v CHAP`,
      `${NODE} -o update -n node.session.auth.username -v me`,
      `${NODE} -o update -n node.session.auth.password -v hush`,
    ])
    for (const code of [5, -1]) {
      const failing = createAdmin({ [`${NODE} -o update -n node.session.auth.password`]: code })
      await assert.rejects(failing.admin.login(path, CHAP, signal), (error: Error) => {
        assert.match(error.message, /node\.session\.auth\.password -v"/)
        assert.equal(error.cause, undefined)
        return !error.message.includes('hush')
      })
    }
  })

  test('logs out; what is gone is no failure', async () => {
    const { admin, calls } = createAdmin({ [`${NODE} --logout`]: 21, [`${NODE} -o delete`]: 2 })
    await admin.logout(path, signal)
    assert.deepEqual(calls, [
      `${NODE} --logout`.replace(' -I default --logout', ' -I default --logout'),
      `${NODE} -o delete`,
    ])
    const stuck = createAdmin({ [`${NODE} --logout`]: -1 })
    await assert.rejects(stuck.admin.logout(path, signal), /did not end within 150000 ms/)
  })

  test('reads the settings of an interface, and makes another with them', async () => {
    const shown =
      '# BEGIN RECORD 2.1.8\niface.iscsi_ifacename = default\niface.net_ifacename = <empty>\niface.transport_name = tcp\n'
    const { admin } = createAdmin({}, shown)
    const settings = await admin.interfaceSettings('default', signal)
    assert.deepEqual(
      [...settings],
      [
        ['iface.iscsi_ifacename', 'default'],
        ['iface.transport_name', 'tcp'],
      ],
    )
    const next = createAdmin({ '-m iface -I a:b -o new': 15, '-m iface -I a:b -o delete': 7 })
    await next.admin.makeInterface('a:b', new Map([['iface.transport_name', 'tcp']]), signal)
    await next.admin.removeInterface('a:b', signal)
    assert.deepEqual(next.calls, [
      '-m iface -I a:b -o new',
      '-m iface -I a:b -o update -n iface.transport_name -v tcp',
      '-m iface -I a:b -o delete',
    ])
  })
})
