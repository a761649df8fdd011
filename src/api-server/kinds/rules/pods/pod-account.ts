import type { Container, Pod, PodSpec, ServiceAccount, Volume } from '../../../../model/generated/core-v1.ts'
import { CONFIG_MIRROR_ANNOTATION } from '../../../../model/pod/pod.ts'
import { forbidden } from '../../../api-error.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { RequestContext } from '../../resource.ts'

const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const VOLUME_PREFIX = 'kube-api-access-'
// An hour, and some seconds by which such tokens are known.
const TOKEN_SECONDS = 3607
const FILE_MODE = 0o644

/** Gives a pod its account: the one that it names or the default one, whose pull secrets, and a token in its containers. */
export function withAccount(spec: PodSpec, pod: ObjectOf<Pod>, context: RequestContext): PodSpec {
  // A mirror shows what runs already, without the API.
  if (pod.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined) return spec
  const name = spec.serviceAccountName || 'default'
  const account = findAccount(pod, name, context)
  const named = { ...spec, serviceAccountName: name, serviceAccount: name }
  const pullSecrets = spec.imagePullSecrets?.length ? spec.imagePullSecrets : account.imagePullSecrets
  const complete = pullSecrets?.length ? { ...named, imagePullSecrets: pullSecrets } : named
  const wantsToken = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true
  return wantsToken ? withToken(complete, context) : complete
}

function findAccount({ metadata }: ObjectOf<Pod>, name: string, { objects }: RequestContext): ServiceAccount {
  const { namespace = '', name: podName = metadata.generateName ?? '' } = metadata
  const account = objects.get({ resource: 'serviceaccounts', namespace, name })
  if (account !== undefined) return account
  const pod = { group: '', resource: 'pods', name: podName }
  throw forbidden(pod, `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`)
}

/** Containers that have something of their own at the place keep it. */
function withToken(spec: PodSpec, { nameSuffix }: RequestContext): PodSpec {
  const { initContainers, containers, volumes = [] } = spec
  const lacks = ({ volumeMounts = [] }: Container) => !volumeMounts.some(({ mountPath }) => mountPath === TOKEN_PATH)
  if (![...(initContainers ?? []), ...containers].some(lacks)) return spec
  // A client that sends back a pod it has read has the volume already.
  const present = volumes.find(({ name }) => name.startsWith(VOLUME_PREFIX))?.name
  const name = present ?? `${VOLUME_PREFIX}${nameSuffix()}`
  const mount = { name, readOnly: true, mountPath: TOKEN_PATH }
  const mounted = (each: Container) =>
    lacks(each) ? { ...each, volumeMounts: [...(each.volumeMounts ?? []), mount] } : each
  return {
    ...spec,
    ...(initContainers && { initContainers: initContainers.map(mounted) }),
    containers: containers.map(mounted),
    volumes: present === undefined ? [...volumes, tokenVolume(name)] : volumes,
  }
}

/** Everything that a client in a pod needs: the token, the authority of the API, and its namespace. */
function tokenVolume(name: string): Volume {
  const namespace = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }
  return {
    name,
    projected: {
      defaultMode: FILE_MODE,
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [namespace] } },
      ],
    },
  }
}
