import { RUN } from './fake-server.js'

/** Events of contract form, for visits that are named by short words. */

export const running = (visitUuid, nodeId = 'node', rest = {}) => ({
  runId: RUN,
  type: 'node_status',
  nodeId,
  visitUuid,
  status: 'RUNNING',
  nodeType: 'agent',
  nodeLabel: 'Agent',
  ...rest,
})

export const ended = (visitUuid, status = 'SUCCESS', nodeId = 'node', rest = {}) => ({
  runId: RUN,
  type: 'node_status',
  nodeId,
  visitUuid,
  status,
  output: { status: status === 'SUCCESS' ? 200 : 400, message: 'said', data: {} },
  error: status === 'SUCCESS' ? null : 'it broke',
  logs: [],
  contextSnapshot: null,
  ...rest,
})

export const recorded = (visitUuid, sortOrder, rest = {}) => ({
  runId: RUN,
  type: 'visit_recorded',
  visit: {
    visitUuid,
    nodeId: 'node',
    nodeType: 'agent',
    nodeLabel: 'Agent',
    iterSeq: 1,
    fromVisitUuid: null,
    fromNodeId: null,
    variablesJson: '{"a":1}',
    outputJson: '{"status":200,"message":"said","data":{}}',
    logsJson: '[]',
    decisionJson: null,
    status: 'SUCCESS',
    errorMsg: null,
    sortOrder,
    offCanvas: false,
    ...rest,
  },
})

export const stream = (visitUuid, kind, content, rest = {}) => ({
  runId: RUN,
  type: 'node_stream',
  nodeId: 'node',
  visitUuid,
  kind,
  content,
  toolName: null,
  ...rest,
})

export const question = (clarifyId, rest = {}) => ({
  clarifyId,
  question: 'Which?',
  options: [{ label: 'One', value: '1' }],
  allowCustom: false,
  placeholder: '',
  multiple: false,
  ...rest,
})

export const complete = () => ({
  runId: RUN,
  type: 'workflow_complete',
  success: true,
  output: { status: 200, message: 'done', data: { answer: 42 } },
  workingDirFiles: ['report.md'],
})

export const broken = (error = 'node x failed') => ({
  runId: RUN,
  type: 'workflow_error',
  success: false,
  error,
  failedNodeId: 'node',
  completedAt: '2026-07-01T08:30:00Z',
})
