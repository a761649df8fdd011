import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { PodParts } from '../../../../test/builders/create-pod.ts'
import { parseAmounts } from '../../../model/resources/compute-pod-requests.ts'
import { computeEmptyDirMount, emptyDirFileSystem } from './compute-empty-dir-mount.ts'

const node = { allocatable: parseAmounts({ memory: '4Gi' }), noswap: false }
const limited = (memory: string) => createContainer({ resources: { limits: { memory } } })
const requesting = (...names: string[]) =>
  createContainer({ resources: { requests: Object.fromEntries(names.map((name) => [name, '4Mi'])) } })

describe('computeEmptyDirMount()', () => {
  const sizes: readonly (readonly [
    name: string,
    spec: PodParts['spec'],
    sizeLimit: string | undefined,
    size: string,
  ])[] = [
    ['nothing is limited: what the node has for pods', {}, undefined, '4294967296'],
    ['the volume is limited', {}, '1k', '1000'],
    ['the volume may hold more than the node has', {}, '8Gi', '4294967296'],
    ['a limit of 0 is none', {}, '0', '4294967296'],
    ['all containers are limited', { containers: [limited('1Mi'), limited('2Mi')] }, undefined, '3145728'],
    ['the volume is limited further', { containers: [limited('1Mi')] }, '1Ki', '1024'],
    ['one container is not limited', { containers: [limited('1Mi'), createContainer()] }, undefined, '4294967296'],
    [
      'an init container is not limited',
      { containers: [limited('1Mi')], initContainers: [createContainer()] },
      undefined,
      '4294967296',
    ],
    ['the pod is limited', { resources: { limits: { memory: '5Mi' } } }, undefined, '5242880'],
    ['overhead counts', { containers: [limited('1Mi')], overhead: { memory: '1Mi' } }, undefined, '2097152'],
  ]
  for (const [name, spec, sizeLimit, size] of sizes)
    test(`size of a tmpfs: ${name}`, () => {
      const pod = createPod(spec === undefined ? {} : { spec })
      assert.deepEqual(computeEmptyDirMount({ pod, medium: 'Memory', sizeLimit }, node), {
        fileSystem: 'tmpfs',
        source: 'tmpfs',
        options: [`size=${size}`],
      })
    })

  test('a tmpfs is kept from swap where the kernel can, and unlimited where nothing is known', () => {
    const needs = { pod: createPod(), medium: 'Memory', sizeLimit: undefined }
    assert.deepEqual(computeEmptyDirMount(needs, { allocatable: new Map(), noswap: true }).options, ['noswap'])
  })

  const pages: readonly (readonly [medium: string, requests: readonly string[], expected: string | RegExp])[] = [
    ['HugePages', ['cpu', 'hugepages-2Mi'], 'pagesize=2Mi'],
    ['HugePages', ['hugepages-1024Mi'], 'pagesize=1Gi'],
    ['HugePages-2Mi', ['hugepages-2Mi', 'hugepages-1Gi'], 'pagesize=2Mi'],
    ['HugePages', ['hugepages-2Mi', 'hugepages-1Gi'], /the pod requests multiple huge page sizes, expected one$/],
    ['HugePages', [], /no container has a resource request for huge pages$/],
    ['HugePages-1Gi', ['hugepages-2Mi'], /no container has a resource request for huge pages of this size$/],
  ]
  for (const [medium, requests, expected] of pages)
    test(`${medium} with requests for ${requests.join(', ') || 'nothing'}`, () => {
      const pod = createPod({ spec: { containers: [createContainer()], initContainers: [requesting(...requests)] } })
      const compute = () => computeEmptyDirMount({ pod, medium, sizeLimit: undefined }, node)
      if (typeof expected === 'string') {
        assert.deepEqual(compute(), { fileSystem: 'hugetlbfs', source: 'nodev', options: [expected] })
      } else assert.throws(compute, expected)
    })

  test('huge pages of the whole pod count too', () => {
    const pod = createPod({ spec: { resources: { requests: { 'hugepages-2Mi': '4Mi' } } } })
    assert.deepEqual(computeEmptyDirMount({ pod, medium: 'HugePages', sizeLimit: undefined }, node).options, [
      'pagesize=2Mi',
    ])
  })

  test('the disk needs no file system, and other media are unknown', () => {
    assert.equal(emptyDirFileSystem(''), undefined)
    assert.throws(() => emptyDirFileSystem('Floppy'), /unknown medium "Floppy"/)
  })
})
