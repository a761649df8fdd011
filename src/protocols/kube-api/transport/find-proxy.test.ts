import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findProxy } from './find-proxy.ts'

const proxied = (noProxy: string) => ({ HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: noProxy })

describe('findProxy()', () => {
  const rows: readonly [string, string, Record<string, string>, string | undefined][] = [
    ['none', 'https://api:6443', {}, undefined],
    [
      'by scheme',
      'https://api:6443',
      { HTTP_PROXY: 'http://other:1', HTTPS_PROXY: 'http://proxy:3128' },
      'http://proxy:3128/',
    ],
    [
      'by scheme, plain',
      'http://api',
      { HTTP_PROXY: 'http://other:1', HTTPS_PROXY: 'http://proxy:3128' },
      'http://other:1/',
    ],
    ['in small letters', 'https://api:6443', { https_proxy: 'proxy:3128' }, 'http://proxy:3128/'],
    ['not for the own machine', 'https://127.0.0.1:6443', proxied(''), undefined],
    ['not for localhost', 'https://localhost:6443', proxied(''), undefined],
    ['not for an address', 'https://10.0.0.1:6443', proxied('10.0.0.1'), undefined],
    ['for another address', 'https://10.0.0.2:6443', proxied('10.0.0.1'), 'http://proxy:3128/'],
    ['not in a range', 'https://10.1.2.3:6443', proxied('x, 10.0.0.0/8'), undefined],
    ['outside of a range', 'https://11.1.2.3:6443', proxied('10.0.0.0/8'), 'http://proxy:3128/'],
    ['not in a range of IPv6', 'https://[fd00::1]:6443', proxied('fd00::/16'), undefined],
    ['not for a name', 'https://api.example.com', proxied('api.example.com'), undefined],
    ['not below a name', 'https://api.example.com', proxied('example.com'), undefined],
    ['not below a name with a dot', 'https://api.example.com', proxied('.example.com'), undefined],
    ['for the name with a dot itself', 'https://example.com', proxied('.example.com'), 'http://proxy:3128/'],
    ['for a name that only ends alike', 'https://myexample.com', proxied('example.com'), 'http://proxy:3128/'],
    ['not for a port', 'https://api:6443', proxied('api:6443'), undefined],
    ['for another port', 'https://api:6443', proxied('api:443'), 'http://proxy:3128/'],
    ['for nothing', 'https://api:6443', proxied('*'), undefined],
    ['for what no rule of sense names', 'https://10.0.0.1', proxied('10.0.0.0/99,/,'), 'http://proxy:3128/'],
  ]
  for (const [name, server, environment, expected] of rows) {
    test(name, () => assert.equal(findProxy(new URL(server), environment)?.href, expected))
  }

  test('refuses what it cannot speak', () => {
    assert.throws(() => findProxy(new URL('https://api'), { HTTPS_PROXY: 'socks5://user:secret@proxy' }), {
      message: 'Cannot use the proxy in HTTPS_PROXY: expected a URL with http:// or https://',
    })
  })
})
