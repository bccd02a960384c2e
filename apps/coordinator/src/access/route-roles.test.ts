import { ROUTES } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { allowedMethodsOf, auditActionOf, neededRoleOf, ROUTE_ROLES } from './route-roles.js';

describe('the table of routes', () => {
  it('finds a door however its address is written', () => {
    expect(neededRoleOf('GET', ROUTES.runs)).toBe('viewer');
    expect(neededRoleOf('HEAD', `${ROUTES.runs}/`)).toBe('viewer');
    expect(neededRoleOf('GET', `${ROUTES.runs}/some-id`)).toBe('viewer');
    expect(neededRoleOf('DELETE', `${ROUTES.runs}/some-id`)).toBe('operator');
    expect(neededRoleOf('DELETE', `${ROUTES.tokens}/some-id`)).toBe('admin');
    expect(neededRoleOf('GET', `${ROUTES.openApi}/swagger-ui.css`)).toBe('nothing');
    expect(neededRoleOf('UPGRADE', ROUTES.agentSocket)).toBe('agent');
  });

  it('has a name for the audit log wherever a role may be too little', () => {
    const isTooLittle = ROUTE_ROLES.filter(({ needs }) => needs === 'operator' || needs === 'admin');
    expect(isTooLittle.filter(({ action }) => action === undefined)).toEqual([]);
    expect(auditActionOf('DELETE', `${ROUTES.runs}/some-id/`)).toBe('run.stop');
    expect(auditActionOf('HEAD', ROUTES.audit)).toBe('audit.read');
    expect(auditActionOf('GET', ROUTES.runs)).toBeUndefined();
  });

  it('has nothing else', () => {
    for (const [method, path] of [
      ['PUT', ROUTES.runs],
      ['OPTIONS', ROUTES.runs],
      ['DELETE', ROUTES.runs],
      ['DELETE', `${ROUTES.runs}/`],
      ['GET', `${ROUTES.runs}/a/b`],
      ['GET', `${ROUTES.runs}//`],
      ['GET', '/api/%72uns'],
      ['GET', `http://host${ROUTES.runs}`],
      ['GET', ROUTES.agentSocket],
      ['GET', '/api'],
      ['GET', '/'],
      [undefined, ''],
    ] as const) {
      expect(neededRoleOf(method, path), `${method} ${path}`).toBeUndefined();
    }
  });

  it('knows what else an address may be asked for', () => {
    expect(allowedMethodsOf(ROUTES.runs)).toEqual(['GET', 'HEAD', 'POST', 'OPTIONS']);
    expect(allowedMethodsOf(`${ROUTES.runs}/some-id/`)).toEqual(['GET', 'HEAD', 'DELETE', 'OPTIONS']);
    expect(allowedMethodsOf(ROUTES.tickets)).toEqual(['POST', 'OPTIONS']);
    expect(allowedMethodsOf(ROUTES.healthz)).toEqual(['GET', 'HEAD', 'OPTIONS']);
    for (const path of ['/api/nothing', ROUTES.agentSocket, ROUTES.live, '*', '']) {
      expect(allowedMethodsOf(path), path).toEqual([]);
    }
  });
});
