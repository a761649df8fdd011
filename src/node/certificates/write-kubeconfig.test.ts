import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { setAside } from '../../system/files/state/durable-file.ts'
import type { KubeconfigInfo } from './kubeconfig-info.ts'
import { writeKubeconfig } from './write-kubeconfig.ts'

const cluster: KubeconfigInfo = {
  server: new URL('https://192.0.2.1:6443'),
  authority: undefined,
  insecure: false,
  serverName: undefined,
  proxy: undefined,
  user: { certificate: undefined },
}

function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-kubeconfig-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'kubelet.conf')
  const aside: string[] = []
  const write = async (change: Partial<KubeconfigInfo> = {}) => {
    const deps = {
      path,
      setAside: async (paths: readonly string[], suffix: string) => {
        aside.push(...paths)
        await setAside(paths, suffix)
      },
      clock: new FakeClock(),
      log: silentLogger,
    }
    await writeKubeconfig(deps, { ...cluster, ...change }, '/pki/c.pem')
    return /- cluster:\n(?<lines>(?: {4}.*\n)*)/.exec(readFileSync(path, 'utf8'))?.groups?.['lines']
  }
  return { folder, path, write, aside }
}

describe('writeKubeconfig()', () => {
  const server = 'server: "https://192.0.2.1:6443"'
  const rows: readonly (readonly [name: string, change: Partial<KubeconfigInfo>, lines: readonly string[]])[] = [
    ['the authorities of the machine', {}, [server]],
    [
      'an authority in a file',
      { authority: { kind: 'file', path: '/etc/ca "1".crt' } },
      ['certificate-authority: "/etc/ca \\"1\\".crt"', server],
    ],
    [
      'an authority that stands in the file',
      { authority: { kind: 'data', pem: 'abc' } },
      ['certificate-authority-data: YWJj', server],
    ],
    [
      'everything else that is needed to reach the server',
      { insecure: true, proxy: new URL('http://proxy:3128'), serverName: 'api' },
      ['insecure-skip-tls-verify: true', 'proxy-url: "http://proxy:3128"', server, 'tls-server-name: "api"'],
    ],
  ]
  for (const [name, change, lines] of rows) {
    test(`carries on ${name}`, async (t) => {
      assert.equal(await place(t).write(change), lines.map((line) => `    ${line}\n`).join(''))
    })
  }

  test('leaves a file alone that says the same, and keeps what said something else', async (t) => {
    const { folder, path, write, aside } = place(t)
    await write()
    await write()
    assert.deepEqual(readdirSync(folder), ['kubelet.conf'])
    await write({ insecure: true })
    assert.deepEqual(readdirSync(folder), ['kubelet.conf', `kubelet.conf.old-${Date.UTC(2026, 0, 1)}`])
    assert.deepEqual(aside, [path])
  })
})
