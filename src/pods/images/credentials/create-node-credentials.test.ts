import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findImageLogins } from './create-node-credentials.ts'

test('findImageLogins() has the logins for the registry of an image, the most specific first', async () => {
  const login = (username: string) => ({ username, password: 'p' })
  const node = {
    logins: async () => [
      { location: 'example.test', value: login('whole') },
      { location: 'example.test/team', value: login('team') },
      { location: 'other.test', value: login('other') },
      { location: 'https://index.docker.io/v1/', value: login('hub') },
    ],
  }
  const users = async (image: string) => (await findImageLogins(node, image)).map(({ username }) => username)
  assert.deepEqual(await users('example.test/team/pause:1'), ['team', 'whole'])
  assert.deepEqual(await users('pause'), ['hub'])
  assert.deepEqual(await users('registry.k8s.io/pause:3.10'), [])
})
