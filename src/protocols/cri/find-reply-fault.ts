import type { CriMethod, CriResponse } from './cri-methods.ts'

type ReplyRule<M extends CriMethod> = (reply: CriResponse<M>) => Readonly<Record<string, unknown>>

// Each rule names what a good reply must have; anything empty, zero or absent is a fault. Only what the agent relies on.
const rules: { readonly [M in CriMethod]?: ReplyRule<M> } = {
  version: ({ version, runtimeName, runtimeVersion, runtimeApiVersion }) => ({
    version,
    runtime_name: runtimeName,
    runtime_version: runtimeVersion,
    runtime_api_version: runtimeApiVersion,
  }),
  runPodSandbox: ({ podSandboxId }) => ({ pod_sandbox_id: podSandboxId }),
  podSandboxStatus: ({ status }) => ({
    status,
    'status.id': status?.id,
    'status.metadata.name': status?.metadata?.name,
    'status.metadata.namespace': status?.metadata?.namespace,
    'status.metadata.uid': status?.metadata?.uid,
    'status.created_at': status?.createdAt,
  }),
  createContainer: ({ containerId }) => ({ container_id: containerId }),
  containerStatus: ({ status }) => ({
    status,
    'status.id': status?.id,
    'status.metadata.name': status?.metadata?.name,
    'status.created_at': status?.createdAt,
    'status.image.image': status?.image?.image,
    'status.image_ref': status?.imageRef,
  }),
  exec: ({ url }) => ({ url }),
  attach: ({ url }) => ({ url }),
  portForward: ({ url }) => ({ url }),
  status: ({ status }) => ({ 'two of status.conditions': (status?.conditions.length ?? 0) >= 2 }),
  imageStatus: ({ image }) => (image === undefined ? {} : { 'image.id': image.id, 'image.size': image.size }),
  pullImage: ({ imageRef }) => ({ image_ref: imageRef }),
}

/** The first thing that a reply lacks, in words; undefined when the reply keeps the contract. */
export function findReplyFault<M extends CriMethod>(method: M, reply: CriResponse<M>): string | undefined {
  const rule = rules[method]
  const missing = rule && Object.entries(rule(reply)).find(([, value]) => !value)
  return missing && `reply lacks ${missing[0]}`
}
