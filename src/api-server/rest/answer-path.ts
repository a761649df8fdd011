import { formatMetrics } from '../../base/telemetry/format-metrics.ts'
import { methodNotAllowed, pathNotFound } from '../api-error.ts'
import type { ResourceTable } from '../custom-resources/resource-table.ts'
import { ASKED_V2_TYPE, OPENAPI_V2_TYPE } from '../openapi/encode-openapi-v2.ts'
import type { OpenApi } from '../openapi/openapi.ts'
import { prefers, wantsAggregatedDiscovery } from './accept.ts'
import type { ApiDeps } from './api-context.ts'
import { jsonResponse, textResponse } from './api-request.ts'
import type { ApiRequest, ApiResponse } from './api-request.ts'
import { aggregatedDiscovery, groupList, groupOf, legacyVersions, resourceList } from './discovery.ts'
import type { RequestCounts } from './request-counts.ts'
import type { RequestInfo } from './request-info.ts'

/** What answers are made from besides the store. */
export interface PathParts {
  readonly openApi: OpenApi
  readonly counts: RequestCounts
}

/** Everything that is no resource: discovery, OpenAPI, version and health. */
export function answerPath(
  deps: ApiDeps,
  parts: PathParts,
  request: ApiRequest,
  { path, query }: RequestInfo,
): ApiResponse {
  const isVerbose = query.has('verbose')
  const found = findAnswer(deps, { ...parts, isVerbose }, request, path.length > 1 ? path.replace(/\/$/, '') : path)
  if (found === undefined) throw pathNotFound()
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
  return found
}

function findAnswer(
  deps: ApiDeps,
  { openApi, counts, isVerbose }: PathParts & { readonly isVerbose: boolean },
  request: ApiRequest,
  path: string,
): ApiResponse | undefined {
  const { resources } = deps
  const json = (value: object | undefined) => (value === undefined ? undefined : jsonResponse(200, value))
  const [, root = '', second = '', third, ...more] = path.split('/')
  switch (root) {
    case 'api':
    case 'apis':
      if (path === `/${root}`) return discoveryRoot(resources, request, root === 'api')
      if (root === 'api') return third === undefined ? json(resourceList(resources, '', second)) : undefined
      if (more.length > 0) return undefined
      return json(third === undefined ? groupOf(resources, second) : resourceList(resources, second, third))
    case 'openapi': {
      if (path === '/openapi/v2') return answerV2(openApi, request)
      if (path === '/openapi/v3') return json(openApi.v3.index(resources.all))
      const document = path.startsWith('/openapi/v3/')
        ? openApi.v3.document(path.slice('/openapi/v3/'.length), resources.all)
        : undefined
      return document === undefined ? undefined : textResponse(200, document)
    }
    case 'version':
      return path === '/version' ? json(versionInfo(deps.version)) : undefined
    case 'healthz':
    case 'livez':
    case 'readyz':
      return answerHealth(root, path, isVerbose)
    case 'metrics':
      return path === '/metrics' ? answerMetrics(deps, counts) : undefined
    default:
      return undefined
  }
}

/** The checks of health: the server answers, and its store is open, without which it would not run. */
const CHECKS = ['ping', 'store']

function answerHealth(root: string, path: string, isVerbose: boolean): ApiResponse | undefined {
  if (CHECKS.some((check) => path === `/${root}/${check}`)) return plain('ok')
  if (path !== `/${root}`) return undefined
  if (!isVerbose) return plain('ok')
  return plain([...CHECKS.map((check) => `[+]${check} ok`), `${root} check passed`, ''].join('\n'))
}

function answerMetrics({ store, resources }: ApiDeps, counts: RequestCounts): ApiResponse {
  const objects = resources.all
    .filter((resource) => resources.ofStorage(resource.storage) === resource)
    .map(({ group, plural, storage }) => ({
      name: 'apiserver_resource_objects',
      labels: { group, resource: plural },
      value: store.count({ resource: storage }),
    }))
    .filter(({ value }) => value > 0)
  const help = '[ALPHA] Objects of each resource.'
  const stored = { name: 'apiserver_resource_objects', help, type: 'gauge', samples: objects } as const
  const { type, body } = formatMetrics([...counts.families(), stored], 'text')
  return { status: 200, headers: { 'content-type': type }, body }
}

function answerV2(openApi: OpenApi, request: ApiRequest): ApiResponse {
  if (!prefers(request.headers['accept'], ASKED_V2_TYPE)) return textResponse(200, openApi.v2Text())
  return { status: 200, headers: { 'content-type': OPENAPI_V2_TYPE }, body: inOnePiece(openApi.v2Bytes()) }
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

function discoveryRoot(resources: ResourceTable, request: ApiRequest, isCore: boolean): ApiResponse {
  if (!wantsAggregatedDiscovery(request.headers['accept']))
    return jsonResponse(200, isCore ? legacyVersions(resources) : groupList(resources))
  const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const answer = jsonResponse(200, aggregatedDiscovery(resources, isCore))
  return { ...answer, headers: { ...answer.headers, 'content-type': type, vary: 'Accept' } }
}

function plain(body: string): ApiResponse {
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

function versionInfo(version: string): object {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(version) ?? []
  return {
    major,
    minor,
    gitVersion: version,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: '',
    platform: 'linux/amd64',
  }
}
