import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { NodeCredentials } from './node-credentials.ts'

const config = (name: string) => JSON.stringify({ auths: { 'r.example': { username: name } } })
const legacy = (name: string) => JSON.stringify({ 'r.example': { username: name } })

function make(files: Map<string, string>) {
  const clock = new FakeClock()
  const asked: string[] = []
  const warnings: unknown[] = []
  const credentials = new NodeCredentials({
    read: async (path) => {
      asked.push(path)
      const text = files.get(path)
      return text === undefined ? undefined : { kind: 'content', bytes: Buffer.from(text) }
    },
    folders: { root: '/root-dir', working: '/here', home: '/home/me' },
    clock,
    log: { ...silentLogger, warn: (...line) => void warnings.push(line) },
  })
  const names = async () => (await credentials.logins()).map(({ value }) => value.username)
  return { clock, asked, warnings, names }
}

describe('NodeCredentials', () => {
  test('reads files in the order of the kubelet', async () => {
    const { asked, names } = make(new Map())
    assert.deepEqual(await names(), [])
    assert.deepEqual(asked, [
      '/root-dir/config.json',
      '/here/config.json',
      '/home/me/.docker/config.json',
      '/.docker/config.json',
      '/root-dir/.dockercfg',
      '/here/.dockercfg',
      '/home/me/.dockercfg',
      '/.dockercfg',
    ])
  })

  test('takes the first that makes sense, and reports the others', async () => {
    const files = new Map([
      ['/root-dir/config.json', '{'],
      ['/.docker/config.json', config('docker')],
      ['/root-dir/.dockercfg', legacy('older')],
    ])
    const { warnings, names } = make(files)
    assert.deepEqual(await names(), ['docker'])
    assert.equal(warnings.length, 1)
    files.delete('/.docker/config.json')
    const { names: others } = make(files)
    assert.deepEqual(await others(), ['older'])
  })

  test('reads again after five minutes, and once for all who ask', async () => {
    const files = new Map([['/root-dir/config.json', config('one')]])
    const { clock, asked, names } = make(files)
    assert.deepEqual(await Promise.all([names(), names()]), [['one'], ['one']])
    files.set('/root-dir/config.json', config('two'))
    await clock.advance(299_999)
    assert.deepEqual(await names(), ['one'])
    await clock.advance(1)
    assert.deepEqual(await names(), ['two'])
    assert.equal(asked.length, 2)
  })
})
