import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { ImageNameError, parseImageName, toFullName, toRepository } from './parse-image-name.ts'

const HEX = '0123456789abcdef'.repeat(4)

describe('parseImageName()', () => {
  const completed = [
    'busybox',
    'library/busybox',
    'localhost/a',
    'r.example:5000/a/b',
    '[::1]:5000/a',
    'Reg/a',
    'a__b/c--d',
  ]
  for (const name of completed) {
    test(`gives ${name} the tag latest`, () => assert.equal(parseImageName(name), `${name}:latest`))
  }

  const complete = [
    'busybox:1.36',
    'busybox:UPPER_case-1.0',
    'host:5000',
    'r.example:5000/a:v1',
    `busybox@sha256:${HEX}`,
    `busybox:1@sha256:${HEX}`,
    `busybox@sha512:${HEX}${HEX}`,
    `a:${'t'.repeat(128)}`,
  ]
  for (const name of complete) {
    test(`leaves ${name} as it is`, () => assert.equal(parseImageName(name), name))
  }

  const refused: [string, RegExp][] = [
    ['', /at least one component/],
    ['UPPER', /repository name \(UPPER\) must be lowercase/],
    ['a/B', /must be lowercase/],
    ['a b', /"a b" in repository name/],
    ['-a', /"-a" in repository name/],
    ['a..b', /"a..b" in repository name/],
    ['a___b', /"a___b" in repository name/],
    ['a//b', /"" in repository name/],
    ['/a', /"" in repository name/],
    ['a/', /"" in repository name/],
    ['r.example/', /at least one component/],
    ['-r.example/a', /not a registry host/],
    ['r.example:x/a', /not a registry host/],
    ['http://r.example/a', /not a registry host/],
    ['a:', /tag ""/],
    ['a:.x', /tag ".x"/],
    [`a:${'t'.repeat(129)}`, /tag/],
    ['a@', /not a digest/],
    ['a@sha256:abc', /not a digest/],
    [`a@sha256:${HEX}@sha256:${HEX}`, /not a digest/],
    [`a@sha256:${HEX}0`, /64 lower-case/],
    [`a@sha256:${HEX.toUpperCase()}`, /64 lower-case/],
    [`a@md5:${HEX}`, /unsupported digest algorithm "md5"/],
    [`a@constructor:${HEX}`, /unsupported digest algorithm/],
    [HEX, /image ID/],
    [`a${'/a'.repeat(128)}`, /more than 255/],
    ['a'.repeat(5000), /longer than 4096/],
  ]
  for (const [name, message] of refused) {
    test(`refuses "${name.slice(0, 80)}"`, () => {
      assert.throws(() => parseImageName(name), { name: 'ImageNameError', message })
    })
  }

  test('gives a complete name or its own error for any text', () => {
    const parts = fc.constantFrom('a', 'B', '/', ':', '@', '.', '-', '_', 'sha256', HEX, '5000', ' ', 'é')
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (list) => {
        const text = list.join('')
        try {
          const name = parseImageName(text)
          assert.equal(parseImageName(name), name)
          assert.ok(name === text || name === `${text}:latest`)
        } catch (error) {
          assert.ok(error instanceof ImageNameError, String(error))
        }
      }),
    )
  })
})

describe('toRepository()', () => {
  const rows: [image: string, repository: string][] = [
    ['nginx:1', 'docker.io/library/nginx'],
    [`nginx@sha256:${HEX}`, 'docker.io/library/nginx'],
    ['me/web:1', 'docker.io/me/web'],
    ['docker.io/nginx:1', 'docker.io/library/nginx'],
    ['index.docker.io/me/web:1', 'docker.io/me/web'],
    ['localhost/web:1', 'localhost/web'],
    ['r.example:5000/a/b:1', 'r.example:5000/a/b'],
    [`r.example/a:1@sha256:${HEX}`, 'r.example/a'],
    ['[::1]:5000/a:1', '[::1]:5000/a'],
  ]
  for (const [image, repository] of rows) {
    test(`finds ${repository} in ${image}`, () => assert.equal(toRepository(image), repository))
  }
})

test('toFullName() is what runtimes list', () => {
  const rows: [image: string, name: string][] = [
    ['nginx', 'docker.io/library/nginx:latest'],
    ['me/web:1', 'docker.io/me/web:1'],
    ['r.example:5000/a', 'r.example:5000/a:latest'],
    [`nginx:1@sha256:${HEX}`, `docker.io/library/nginx@sha256:${HEX}`],
  ]
  assert.deepEqual(
    rows.map(([image]) => [image, toFullName(image)]),
    rows,
  )
})
